//! Curves that others have measured on GPUs that Heddle has descriptions of, beside the same micro-kernels simulated. They
//! have no bound: how far off a description is, is stated.

use serde::Deserialize;

use crate::Plot;
use crate::bench::Bench;
use crate::expect::Path;
use crate::latency::follow;

/// The files of `machines/published`, which say what their fields mean.
const FILES: [&str; 2] =
    [include_str!("../../../machines/published/v100.toml"), include_str!("../../../machines/published/mi100.toml")];

/// Points of a curve that are simulated at most.
const MOST_POINTS: usize = 16;

/// A file: what was measured, and the description that it is compared with.
#[derive(Deserialize)]
struct Measurements {
    machine: String,
    device: String,
    curve: Vec<Curve>,
}

/// A curve of one of the file's kinds; others than `pointer-chase` have no micro-kernel here.
#[derive(Deserialize)]
struct Curve {
    kind: String,
    source: String,
    points: Vec<(f64, f64)>,
}

/// Draws what is published of the machine, as far as there is a micro-kernel for it.
pub fn curves(bench: &mut Bench) {
    let files = FILES.iter().filter_map(|text| toml::from_str::<Measurements>(text).ok());
    for file in files.filter(|f| f.machine == bench.machine.name) {
        for curve in file.curve.iter().filter(|c| c.kind == "pointer-chase") {
            chase(bench, &file.device, curve);
        }
    }
}

/// Dependent loads over a ring of lines in random order.
fn chase(bench: &mut Bench, device: &str, curve: &Curve) {
    let machine = bench.one_sm();
    let line = machine.memory.line_bytes;
    // Beyond twice L2 there is only DRAM, and rings take long to go around.
    let most = 2.0 * f64::from(machine.memory.l2.bytes);
    let known: Vec<_> = curve.points.iter().filter(|p| p.0 <= most && p.0 >= f64::from(2 * line)).collect();
    let mut points = Vec::new();
    let mut errors = 0.0;
    for (bytes, cycles) in known.iter().step_by(known.len().div_ceil(MOST_POINTS).max(1)) {
        let lines = (*bytes / f64::from(line)) as u32;
        let Ok(simulated) = follow(bench, &machine, Path::Data, ring(lines, line), lines, 1) else { continue };
        points.push((bytes / 1024.0, *cycles, simulated));
        errors += (simulated / cycles - 1.0).abs();
    }
    if points.is_empty() {
        return;
    }
    let error = 100.0 * errors / points.len() as f64;
    bench.plot(Plot {
        id: "published-chase",
        title: format!("Dependent loads in random order: {device}, and this description"),
        note: format!("{}. Mean error {error:.1} % of {} points; no bound.", curve.source, points.len()),
        across: "KiB",
        up: "cycles a load",
        reference: "published",
        points,
    });
}

/// A ring through all of some lines, in an order that is the same each time: the first word of each holds the place of
/// the next (Sattolo's shuffle, which makes one ring of them).
fn ring(lines: u32, line_bytes: u32) -> Vec<u32> {
    let mut next: Vec<u32> = (0..lines).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for i in (1..lines as usize).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        next.swap(i, ((state >> 33) % i as u64) as usize);
    }
    let mut words = vec![0; (lines * line_bytes / 4) as usize];
    for (i, to) in next.iter().enumerate() {
        words[i * line_bytes as usize / 4] = to * line_bytes;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_goes_through_all_lines() {
        let words = ring(100, 128);
        let (mut at, mut seen) = (0u32, 0);
        loop {
            at = words[at as usize / 4];
            seen += 1;
            if at == 0 {
                break;
            }
        }
        assert_eq!(seen, 100);
    }

    #[test]
    fn all_files_can_be_read() {
        for text in FILES {
            let file: Measurements = toml::from_str(text).unwrap();
            assert!(file.curve.iter().any(|c| c.kind == "pointer-chase"), "{}", file.device);
        }
    }
}
