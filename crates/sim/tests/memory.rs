//! Device memory and the host's. The only test of its program, because it looks at the memory of the whole process.

#![cfg(target_os = "linux")]

use heddle_sim::DeviceMemory;

/// Bytes of the process that are in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    4096 * text.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}

/// A freed allocation is no memory of the host any more.
#[test]
fn freed_memory_goes_back() {
    let mut memory = DeviceMemory::reserved(1 << 30).unwrap();
    let large = 256 << 20;
    let a = memory.allocate("a", large).unwrap();
    assert!(memory.write(a, &vec![1; large as usize]));
    let full = resident();
    assert!(memory.free(a));
    let freed = resident();
    assert!(freed + large / 2 < full, "{full} bytes before, {freed} after");
}
