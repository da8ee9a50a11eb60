//! Tests of timing mode and of the memory hierarchy. One program, so that a changed simulator is linked once.

mod launch_statistics;
mod lit_timing;
mod memory_counts;
mod memory_policies;
mod memory_timing;
mod multiprocessor;
mod texture_reads;

use heddle_sim::DeviceMemory;

/// Memory with two allocations of 64 KiB, at these addresses: one in device memory, one in system memory.
fn memories() -> (DeviceMemory, u64, u64) {
    let mut memory = DeviceMemory::new(1 << 20);
    let device = memory.allocate("device", 1 << 16).unwrap();
    let system = memory.allocate("system", 1 << 16).unwrap();
    memory.place(system, true);
    (memory, device, system)
}
