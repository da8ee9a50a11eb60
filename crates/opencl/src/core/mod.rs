//! What handles stand for.
//!
//! - `platform`, `device`: the one platform and the one simulated device of a process. `clock`: the device's
//!   time.
//! - `context`, `queue`: as in the specification. `event`: commands' and users' events with their callbacks.
//!   `scheduler`: who executes commands and when. `callbacks`: the thread that calls the program back.
//! - `memory`: buffers and images in device memory; `transfer`: copies between them and the host's memory.
//!   `sampler`.
//! - `program`, `kernel`: built code, and arguments; `launch`: a kernel on the simulator.

pub mod binary;
pub mod callbacks;
pub mod clock;
pub mod context;
pub mod device;
pub mod event;
pub mod kernel;
pub mod launch;
pub mod memory;
pub mod platform;
pub mod program;
pub mod queue;
pub mod sampler;
pub mod scheduler;
pub mod svm;
pub mod transfer;
