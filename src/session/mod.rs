//! A program's launches from its first to its last: what options say of each, and what is kept of them.

mod options;
mod picks;

pub use options::{Check, DeviceType, ExecOptions, TimingCaches, variables};
pub use picks::{PickedLaunches, Picks};
