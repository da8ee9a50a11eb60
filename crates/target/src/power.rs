//! The rows of static power: what a device draws whether or not it works, by component.

use crate::describe::*;
use crate::validate;

tables! {
    /// Static power by component. What is an SM's counts once for each SM; `energy.static-watts` is what no
    /// component here has.
    StaticPower: Copy {
        /// Of an SM: pipelines, schedulers, units.
        sm_watts: f64 = 0.0 => from_zero().of("W").simulator_only();
        /// Of an SM's register files.
        register_file_watts: f64 = 0.0 => from_zero().of("W").simulator_only();
        /// Of an SM's L1 caches and work-group memory.
        l1_watts: f64 = 0.0 => from_zero().of("W").simulator_only();
        /// Of the whole L2, and of the L1.5s.
        l2_watts: f64 = 0.0 => from_zero().of("W").simulator_only();
        /// Of the network between SMs and L2.
        network_watts: f64 = 0.0 => from_zero().of("W").simulator_only();
        /// Of device memory and its controllers, refresh included.
        dram_watts: f64 = 0.0 => from_zero().of("W").simulator_only();
        /// Whether an SM without a resident work-group is switched off but for `gated-share`.
        power_gating: bool = false => any("both make a machine").simulator_only();
        /// Share of its static power that an SM draws while it is switched off.
        gated_share: f64 = 0.1 => across(validate::gated_share, "0 to 1").simulator_only();
    }
}

impl StaticPower {
    /// No component draws anything.
    pub const NONE: StaticPower = StaticPower {
        sm_watts: 0.0,
        register_file_watts: 0.0,
        l1_watts: 0.0,
        l2_watts: 0.0,
        network_watts: 0.0,
        dram_watts: 0.0,
        power_gating: false,
        gated_share: 0.1,
    };
}
