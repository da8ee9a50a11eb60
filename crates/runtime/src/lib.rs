//! The host side: buffers, arguments, launches, case files.
//!
//! It uses the object format and the simulator, and nothing of the compiler: kernels come as a [`heddle_object::Image`].
//!
//! - [`case`]: case files (DESIGN §8); [`quick`] makes one of a command line's words.
//! - [`run`]: runs a case on the simulator and compares what it leaves in buffers; a device between launches.
//! - [`picks`]: which launches are meant; [`alike`]: launches that are like others.
//! - [`array`]: typed arrays, read from and written to `.npy`.
//! - [`printf`]: what kernels print.
//!
//! # Example
//! A case's launches on compiled code, with timing:
//! ```no_run
//! use heddle_runtime::case::Case;
//! use heddle_runtime::run::{Mode, Simulator, run_case};
//!
//! let case = Case::read("case.json".as_ref())?;
//! let image = heddle_object::read::parse(&std::fs::read("kernel.o")?)?;
//! let machine = heddle_target::Machine::default_machine();
//! let simulator = Simulator { machine: &machine, mode: Mode::Timing, options: &Default::default() };
//! let outcome = run_case(&case, &image, &simulator, &mut ())?;
//! assert!(outcome.mismatches.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod alike;
pub mod array;
pub mod case;
pub mod picks;
pub mod printf;
pub mod quick;
pub mod run;
