//! Why one run of a program takes more cycles than another, in a word, from their statistics.
//!
//! The simulator gives every cycle of a resident warp either to an instruction that the warp issued
//! or to the cause for which it did not (`timing.stalls`), so
//!
//! ```text
//! instructions + stalls by cause = resident warps on average * cycles of the SMs
//! cycles = (instructions + stalls) / resident warps / (cycles of the SMs / cycles)
//! ```
//!
//! Of two runs of the same work, the ratio of the cycles is the product of the ratios of these
//! three factors. The factor whose logarithm has the greatest part in the loss is the cause: fewer
//! resident warps on average (because fewer may be resident, or because those of a work-group end
//! at different times), SMs that end at different times, or more cycles a warp, and then the
//! instructions or the cause of stalls that grew most. Waiting for memory has a cause of its own further down,
//! the first level at which more is missed or moved.

use serde_json::Value;

/// Growth below this share of the smaller run counts as none.
const NOTICED: f64 = 0.005;

/// Statistics of a run by their dotted names; a count that a machine does not have is 0.
struct Run<'a>(&'a Value);

impl Run<'_> {
    fn of(&self, name: &str) -> f64 {
        self.0.get(name).and_then(Value::as_f64).unwrap_or(0.0)
    }

    fn sum(&self, names: &[&str]) -> f64 {
        names.iter().map(|n| self.of(n)).sum()
    }
}

/// Causes of stalls, and what they are called. What waits for memory is told by [`memory`].
const STALLS: [(&str, &str); 8] = [
    ("memory", "waits for memory"),
    ("dependence", "waits for results"),
    ("unit", "a unit taken"),
    ("barrier", "barriers"),
    ("rename", "no free register"),
    ("fetch", "instruction fetch"),
    ("inactive", "inactive warps"),
    ("bank", "register banks"),
];

/// What makes `slow` take more cycles than `fast`: both are statistics of runs of the same work.
pub fn of(slow: &Value, fast: &Value) -> String {
    let (slow, fast) = (Run(slow), Run(fast));
    let warp_cycles =
        |r: &Run<'_>| STALLS.iter().map(|(s, _)| r.of(&format!("timing.stalls.{s}"))).sum::<f64>() + r.of("instructions");
    let growth = |what: &dyn Fn(&Run<'_>) -> f64| what(&slow).max(1e-9).ln() - what(&fast).max(1e-9).ln();
    let busy = |r: &Run<'_>| r.of("timing.sm_cycles") / r.of("timing.cycles").max(1.0);
    let resident = |r: &Run<'_>| warp_cycles(r) / r.of("timing.sm_cycles").max(1.0);
    let (more, fewer, uneven) = (growth(&warp_cycles), -growth(&resident), -growth(&busy));
    if fewer > more && fewer > uneven {
        let most = |r: &Run<'_>| r.of("timing.resident_warps");
        return if most(&slow) < most(&fast) { "fewer resident warps" } else { "warps end apart" }.into();
    }
    if uneven > more {
        return "SMs end apart".into();
    }
    let grown = |name: &str| slow.of(name) - fast.of(name);
    let waits = STALLS.map(|(stall, words)| (grown(&format!("timing.stalls.{stall}")), words));
    let (most, words) = waits.into_iter().fold((f64::MIN, ""), |best, wait| if wait.0 > best.0 { wait } else { best });
    if grown("instructions") >= most {
        return instructions(&slow, &fast).into();
    }
    match words {
        "waits for memory" => memory(&slow, &fast).into(),
        words => words.into(),
    }
}

/// Whether a sum of counts grew.
fn grew(slow: &Run<'_>, fast: &Run<'_>, names: &[&str]) -> bool {
    slow.sum(names) > (1.0 + NOTICED) * fast.sum(names)
}

/// Which instructions there are more of.
fn instructions(slow: &Run<'_>, fast: &Run<'_>) -> &'static str {
    let grown = |name: &str| slow.of(name) - fast.of(name);
    let half = grown("instructions") / 2.0;
    match () {
        () if grown("copies") > half => "more copies",
        () if grown("scalar_instructions") > half => "more scalar instructions",
        () => "more instructions",
    }
}

/// Why loads take longer.
fn memory(slow: &Run<'_>, fast: &Run<'_>) -> &'static str {
    let grew = |names: &[&str]| grew(slow, fast, names);
    let misses = |level: &str| format!("timing.hierarchy.{level}.misses");
    match () {
        () if grew(&["timing.hierarchy.dram_read_bytes", "timing.hierarchy.dram_written_bytes"]) => "more device memory traffic",
        () if grew(&[&misses("l2")]) => "more misses in L2",
        () if grew(&[&misses("data"), &misses("uniform"), &misses("constant")]) => "more misses in L1",
        () if grew(&["timing.hierarchy.l2_to_l1_bytes", "timing.hierarchy.l1_to_l2_bytes"]) => "more L2 traffic",
        () if grew(&["memory.private.loads", "memory.private.stores"]) => "more private memory",
        () if grew(&["timing.hierarchy.dram_row_misses"]) => "more DRAM rows opened",
        () => "waits for memory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// 100 instructions on one SM in 1000 cycles with two warps that wait.
    fn run(changes: &[(&str, u64)]) -> Value {
        let mut v = json!({
            "instructions": 100, "timing.cycles": 1000, "timing.sm_cycles": 1000,
            "timing.stalls.memory": 900, "timing.stalls.dependence": 1000,
        });
        for (name, value) in changes {
            v[*name] = json!(value);
        }
        v
    }

    #[test]
    fn the_cause_that_grew_most_is_named() {
        let fast = run(&[]);
        let of = |changes: &[(&str, u64)]| super::of(&run(changes), &fast);
        let time = [("timing.cycles", 1100), ("timing.sm_cycles", 1100)];
        let longer = |more: &[(&'static str, u64)]| of(&[&time, more].concat());
        assert_eq!(longer(&[("timing.stalls.dependence", 1200)]), "waits for results");
        assert_eq!(longer(&[("timing.stalls.unit", 150), ("timing.stalls.dependence", 1050)]), "a unit taken");
        assert_eq!(longer(&[("timing.stalls.memory", 1100)]), "waits for memory");
        let misses = ("timing.hierarchy.data.misses", 7);
        assert_eq!(longer(&[("timing.stalls.memory", 1100), misses]), "more misses in L1");
        let traffic = ("timing.hierarchy.dram_read_bytes", 64);
        assert_eq!(longer(&[("timing.stalls.memory", 1100), misses, traffic]), "more device memory traffic");
        assert_eq!(longer(&[("instructions", 300)]), "more instructions");
        assert_eq!(longer(&[("instructions", 300), ("scalar_instructions", 150)]), "more scalar instructions");
        assert_eq!(longer(&[("instructions", 300), ("copies", 150)]), "more copies");
    }

    #[test]
    fn fewer_warps_and_uneven_ends_are_causes() {
        let fast = run(&[]);
        // The same waits of half as many warps, twice as long.
        let alone = [("timing.cycles", 2000), ("timing.sm_cycles", 2000)];
        assert_eq!(of(&run(&alone), &fast), "warps end apart");
        assert_eq!(of(&run(&alone), &run(&[("timing.resident_warps", 2)])), "fewer resident warps");
        // Two SMs in the fast run for as long as each other; in the slow one the other ends early.
        let uneven = run(&[("timing.cycles", 1200)]);
        assert_eq!(of(&uneven, &fast), "SMs end apart");
    }
}
