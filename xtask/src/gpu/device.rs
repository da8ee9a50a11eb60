//! What runs kernels: a GPU behind its driver, or a stand-in where there is none.

use anyhow::Result;

/// A kernel, and how it is launched.
pub struct Launching<'a> {
    /// What `load` gave.
    pub module: u64,
    /// The kernel's name.
    pub kernel: &'a str,
    /// Work-groups.
    pub groups: [u32; 3],
    /// Work-items of a work-group.
    pub items: [u32; 3],
    /// Bytes of work-group memory beside the kernel's own.
    pub shared: u32,
    /// The arguments' bytes.
    pub arguments: &'a [Vec<u8>],
}

/// A device that compiles PTX and runs its kernels, one at a time.
pub trait Device {
    /// What it is called.
    fn name(&self) -> Result<String>;
    /// The driver and its version.
    fn driver(&self) -> Result<String>;
    /// 70 for 7.0.
    fn compute_capability(&self) -> Result<u32>;
    /// The clock of its multiprocessors, at most.
    fn clock_mhz(&self) -> Result<f64>;
    /// Multiprocessors.
    fn processors(&self) -> Result<u32>;
    /// Compiles PTX.
    fn load(&mut self, ptx: &str) -> Result<u64>;
    /// Forgets what `load` made.
    fn unload(&mut self, module: u64) -> Result<()>;
    /// Device memory of so many bytes: its address.
    fn allocate(&mut self, bytes: usize) -> Result<u64>;
    /// Gives it back.
    fn free(&mut self, address: u64) -> Result<()>;
    /// Copies to device memory.
    fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<()>;
    /// Copies from device memory.
    fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<()>;
    /// Sets a variable of a module.
    fn set(&mut self, module: u64, variable: &str, bytes: &[u8]) -> Result<()>;
    /// Launches a kernel and waits for it; returns microseconds.
    fn launch(&mut self, launching: &Launching<'_>) -> Result<f64>;
}
