//! Energy of static power, by component: what a device draws whether or not it works, times how long.
//!
//! Components of an SM count for each SM, those of the device once. An SM without a resident work-group draws
//! as much as one that works, unless the description has it switched off.

use std::collections::BTreeMap;

use heddle_target::Machine;

/// Picojoules by component of a launch that takes `cycles`; `sm_cycles`: cycles in which an SM had a resident
/// work-group, summed over SMs. `rest` is what the description gives to no component.
pub(crate) fn energy(machine: &Machine, cycles: u64, sm_cycles: u64) -> BTreeMap<String, f64> {
    let (e, power) = (&machine.energy, &machine.energy.static_power);
    let seconds = |cycles: f64| cycles / (machine.clock_mhz * 1e6);
    let pj = |cycles: f64, watts: f64| seconds(cycles) * watts * 1e12;
    let idle = (u64::from(machine.sm.count) * cycles).saturating_sub(sm_cycles);
    let share = if power.power_gating { power.gated_share } else { 1.0 };
    let (device, in_use, not_in_use) = (cycles as f64, sm_cycles as f64, idle as f64 * share);
    let of_sms = power.sm_watts + power.register_file_watts + power.l1_watts;
    let parts = [
        ("sm", pj(in_use, power.sm_watts)),
        ("register files", pj(in_use, power.register_file_watts)),
        ("l1", pj(in_use, power.l1_watts)),
        ("idle sms", pj(not_in_use, of_sms)),
        ("l2", pj(device, power.l2_watts)),
        ("network", pj(device, power.network_watts)),
        ("dram", pj(device, power.dram_watts)),
        ("rest", pj(device, e.static_watts)),
    ];
    parts.into_iter().filter(|(_, pj)| *pj > 0.0).map(|(name, pj)| (name.to_string(), pj)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of 8 SMs at 1000 MHz, where a cycle of 1 W is 1000 pJ.
    fn machine(sets: &[&str]) -> Machine {
        let fixed = ["sm.count=8", "clock-mhz=1000.0", "energy.static-watts=2.0"];
        let sets: Vec<String> = fixed.iter().chain(sets).map(|s| s.to_string()).collect();
        heddle_target::testing::mixed(&sets)
    }

    fn of(sets: &[&str]) -> Vec<(String, f64)> {
        // Of 8 x 100 cycles an SM is in use for 300.
        energy(&machine(sets), 100, 300).into_iter().map(|(name, pj)| (name, pj.round())).collect()
    }

    #[test]
    fn what_no_component_has_is_the_device_s() {
        assert_eq!(of(&[]), [("rest".to_string(), 2.0 * 100.0 * 1000.0)]);
        assert_eq!(of(&["energy.static-watts=0.0"]), []);
    }

    #[test]
    fn components_of_an_sm_count_for_each() {
        let sets = ["energy.static-power={sm-watts=0.5,register-file-watts=0.25,l1-watts=0.125}"];
        let parts = of(&sets);
        let wanted = [("idle sms", 0.875 * 500e3), ("l1", 0.125 * 300e3), ("register files", 0.25 * 300e3), ("rest", 2e5)];
        let wanted: Vec<(String, f64)> = wanted.into_iter().chain([("sm", 0.5 * 300e3)]).map(|(n, e)| (n.into(), e)).collect();
        assert_eq!(parts, wanted);
        // All SMs draw it, used or not.
        let all: f64 = parts.iter().map(|(_, pj)| pj).sum();
        assert_eq!(all, 2e5 + 0.875 * 800e3);
    }

    #[test]
    fn components_of_the_device_count_once() {
        let sets = ["energy.static-power={l2-watts=1.0,network-watts=2.0,dram-watts=4.0}"];
        let wanted = [("dram", 4e5), ("l2", 1e5), ("network", 2e5), ("rest", 2e5)];
        assert_eq!(of(&sets), wanted.map(|(n, e)| (n.to_string(), e)));
    }

    #[test]
    fn idle_sms_are_switched_off_where_they_can_be() {
        let with = |more: &str| {
            let parts = of(&[&format!("energy.static-power={{sm-watts=1.0{more}}}")]);
            parts.into_iter().find(|(n, _)| n == "idle sms").map(|(_, pj)| pj)
        };
        assert_eq!(with(""), Some(500e3));
        assert_eq!(with(",gated-share=0.25"), Some(500e3), "only where power-gating is on");
        assert_eq!(with(",power-gating=true,gated-share=0.25"), Some(125e3));
        assert_eq!(with(",power-gating=true"), Some(500e3 * 0.1));
        assert_eq!(with(",power-gating=true,gated-share=0.0"), None);
    }
}
