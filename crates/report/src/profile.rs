//! `heddle run --profile`: the source with what each line did and cost, and the instructions it became.
//!
//! Cycles are the warps' time: from a warp's previous issue to this one, summed over all warps. A line's
//! share says where warps spend their time, waiting included, whatever other warps did meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write;

use heddle_isa::{Inst, text};
use heddle_object::Image;
use heddle_runtime::run::Outcome;
use heddle_sim::statistics::InstructionProfile;
use heddle_target::Machine;

/// What an instruction of a kernel did.
struct Counted<'a> {
    inst: &'a Inst,
    index: usize,
    profile: InstructionProfile,
}

/// Share of a total, as text; empty if there is nothing.
fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 { String::new() } else { format!("{:.1}%", 100.0 * part as f64 / whole as f64) }
}

fn number(n: u64) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

/// The columns of a profile: warp time, issues, active lanes, lines, sectors, L1 hits, sectors from memory,
/// mean latency of loads.
fn columns(p: &InstructionProfile, all: u64, lanes: u64) -> String {
    let active =
        if p.issues == 0 { String::new() } else { format!("{:.0}%", 100.0 * p.lanes as f64 / (p.issues * lanes) as f64) };
    let latency = if p.latency == 0 { String::new() } else { format!("{:.0}", p.latency as f64 / p.issues.max(1) as f64) };
    format!(
        "{:>7} {:>9} {:>6} {:>9} {:>7} {:>9} {:>7}",
        share(p.cycles, all),
        number(p.issues),
        active,
        number(p.sectors),
        share(p.hits, p.sectors),
        number(p.far),
        latency
    )
}

const HEAD: &str = "   time    issues active   sectors  L1 hit  from mem latency";

/// The annotated listing of every kernel that was launched in timing mode, of each version of it that ran. Sources that cannot be read are
/// listed by line number alone.
///
/// # Errors
/// Code that does not load.
pub fn listing(outcome: &Outcome, image: &Image, machine: &Machine) -> Result<String, String> {
    let mut versions: BTreeMap<(&str, usize), Vec<InstructionProfile>> = BTreeMap::new();
    for launch in &outcome.launches {
        let Some(t) = &launch.statistics.timing else { continue };
        let version = (launch.kernel.as_str(), launch.version);
        let sums = versions.entry(version).or_insert_with(|| vec![InstructionProfile::default(); t.profile.len()]);
        sums.iter_mut().zip(&t.profile).for_each(|(a, b)| a.add(b));
    }
    let mut out = String::new();
    for ((_, version), profile) in versions {
        let program = super::program(image, version, machine)?;
        let name = program.header.symbol();
        let all: u64 = profile.iter().map(|p| p.cycles).sum();
        let lanes = u64::from(machine.warp_size);
        let _ = writeln!(out, "\nprofile of {name}: {all} cycles of warps");
        let mut lines: BTreeMap<(u32, u32), Vec<Counted>> = BTreeMap::new();
        for (index, (inst, profile)) in program.insts.iter().zip(&profile).enumerate() {
            lines.entry((inst.loc.file, inst.loc.line)).or_default().push(Counted { inst, index, profile: *profile });
        }
        let mut file = None;
        let mut source: Vec<String> = Vec::new();
        for ((number, line), insts) in &lines {
            if file != Some(*number) {
                file = Some(*number);
                let path = program.files.get(*number as usize).cloned().unwrap_or_default();
                source = std::fs::read_to_string(&path).map(|t| t.lines().map(str::to_string).collect()).unwrap_or_default();
                let _ = writeln!(out, "{HEAD} | {}", if path.is_empty() { "(no source)" } else { &path });
            }
            let mut sum = InstructionProfile::default();
            insts.iter().for_each(|c| sum.add(&c.profile));
            // Issues of a line: those of its most frequent instruction.
            let most = insts.iter().map(|c| c.profile).max_by_key(|p| p.issues).unwrap_or_default();
            (sum.issues, sum.lanes) = (most.issues, most.lanes);
            // The mean over the line's loads.
            let loads: u64 = insts.iter().filter(|c| c.profile.latency > 0).map(|c| c.profile.issues).sum();
            sum.latency = sum.latency * sum.issues / loads.max(1);
            let text = source.get((*line as usize).wrapping_sub(1)).map_or("", String::as_str);
            let _ = writeln!(out, "{} | {line:>4}  {text}", columns(&sum, all, lanes));
            for c in insts {
                let text = text::print_inst(c.inst, &[]);
                let _ = writeln!(out, "{} |         {:>4}: {text}", columns(&c.profile, all, lanes), c.index);
            }
        }
    }
    Ok(out)
}
