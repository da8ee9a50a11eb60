//! Random kernels with barriers and divergence on random pools of shared registers (REN-7, REN-8, REN-9): the same bytes as without renaming, or a refused
//! launch; never a hang (instructions are bounded), an unmapped read or a leak (both are faults in checking mode).

use heddle::codegen::release::Release;
use heddle::codegen::{RegisterFile, Rename};
use heddle::runtime::run::Mode;
use heddle_fuzz::{Checker, Setup, generate};
use rand::prelude::*;
use rand_pcg::Pcg32;

#[test]
fn random_kernels_on_random_pools() {
    let count = std::env::var("HEDDLE_NIGHTLY").ok().and_then(|n| n.parse().ok()).unwrap_or(60u64);
    let findings = heddle_threads::map((0..count).collect(), finding);
    if let Some(finding) = findings.into_iter().flatten().next() {
        panic!("{finding}");
    }
}

/// What is wrong with the program of a seed on a few pools, if anything is.
fn finding(seed: u64) -> Option<String> {
    let plain = Setup {
        name: "no renaming".into(),
        set: Vec::new(),
        adjust: |o| o.codegen.rename = Rename::Never,
        mode: Mode::Functional,
        may_refuse: false,
        host: false,
    };
    let program = generate::program(1_000_000 + seed);
    let mut random = Pcg32::seed_from_u64(seed);
    let mut setups = vec![plain];
    for _ in 0..4 {
        let rows: u32 = random.random_range(24..600);
        let adjust: fn(&mut heddle::driver::CompileOptions) = match random.random_range(0..3) {
            0 => |o| o.codegen.rename = Rename::Always,
            1 => |o| {
                o.codegen.rename = Rename::Always;
                o.codegen.regfile = RegisterFile::Single;
            },
            _ => |o| {
                o.codegen.rename = Rename::Always;
                o.codegen.regfile = RegisterFile::Single;
                o.codegen.release = Release::Name;
            },
        };
        setups.push(Setup {
            name: format!("{rows} registers of a warp"),
            set: vec![
                "sm.count=1".into(),
                format!("sm.main-registers={}", 32 * rows),
                format!("sm.max-main-registers={}", rows.min(256)),
            ],
            adjust,
            mode: Mode::Timing,
            may_refuse: true,
            host: false,
        });
    }
    let found = Checker::new(setups, 0, None).unwrap().check(&program).err();
    found.map(|finding| format!("seed {seed}: {finding:?}\n{}", program.text()))
}
