//! Tests of timing mode and of the memory hierarchy. One program, so that a changed simulator is linked once.

mod launch_statistics;
mod lit_timing;
mod memory_counts;
mod memory_policies;
mod memory_timing;
mod multiprocessor;
