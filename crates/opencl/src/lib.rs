//! An OpenCL 3.0 driver for the simulated machine: `libheddle_opencl.so`, which OpenCL's loader finds as an
//! installable client driver. Programs run unchanged; `heddle exec` sets the loader up.
//!
//! Two layers:
//! - `api`: the entry points with their C signatures. They check what they are given, in the order in which
//!   the specification lists the errors, and know no simulator. `dispatch` is the table of them that the
//!   loader calls through, `entry` what all of them do around their work.
//! - `core`: what the handles stand for: platform, device, contexts, queues, commands and events, memory,
//!   programs, kernels, samplers. It knows no C pointers but those of the host's memory.
//!
//! `object` is between them: how a handle becomes a reference and back.
//!
//! Commands are executed by whoever waits for them, or by the device's own thread when nobody does: see
//! `core::scheduler`. Nothing here is linked against OpenCL's loader.

mod api;
mod core;
mod dispatch;
mod entry;
mod error;
mod info;
mod object;
