//! The host side: buffers, arguments, launches, case files.
//!
//! [`case`] reads case files (DESIGN §8), [`run`] executes them on the simulator and compares, [`array`] holds typed arrays and reads and
//! writes `.npy`, [`printf`] is what kernels print.

pub mod array;
pub mod case;
pub mod printf;
pub mod quick;
pub mod run;
