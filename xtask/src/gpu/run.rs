//! Runs cases and micro-kernels on a device, and what came out as data.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::case::{Argument, Case, Grid};
use super::device::{Device, Launching};
use super::ptx::{LAUNCH, Ptx};

/// Times that a case runs; the fastest counts.
const RUNS: usize = 5;

/// What a device measured.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Measured {
    /// The device's name.
    pub device: String,
    /// 70 for 7.0.
    pub compute_capability: u32,
    /// Its clock at most.
    pub clock_mhz: f64,
    /// Multiprocessors.
    pub processors: u32,
    /// The driver and its version.
    pub driver: String,
    /// Test kernels.
    pub kernels: Vec<Kernel>,
    /// Micro-kernels, in the form of machines/published.
    pub curves: Vec<Curve>,
}

/// A test kernel on a device.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Kernel {
    /// The folder's name.
    pub name: String,
    /// Microseconds of all launches, the fastest of several runs; none if it did not run.
    pub microseconds: Option<f64>,
    /// Launches.
    pub launches: u32,
    /// What was wrong: a buffer that differs, a failure, or why it does not run here.
    pub problem: Option<String>,
}

/// A curve of a micro-kernel.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Curve {
    /// Which micro-kernel.
    pub kind: String,
    /// Of which operation, for chains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What x is.
    pub x: String,
    /// What y is.
    pub y: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// Runs a case's launches on fresh buffers; compares the first time, and returns the fastest run's microseconds.
///
/// # Errors
/// The device failed.
pub fn case(device: &mut dyn Device, case: &Case, ptx: &Ptx) -> Result<(f64, Option<String>)> {
    if let Some(launch) = case.launches.iter().find(|l| !ptx.kernels.contains(&l.kernel)) {
        bail!("{} has no kernel {}", case.source, launch.kernel);
    }
    let module = device.load(&ptx.text)?;
    let mut places = BTreeMap::new();
    for (name, buffer) in &case.buffers {
        let contents = case.contents(buffer)?;
        places.insert(name.as_str(), (device.allocate(contents.bytes.len())?, contents));
    }
    let (mut fastest, mut problem) = (f64::INFINITY, None);
    for run in 0..RUNS {
        for (address, contents) in places.values() {
            device.upload(*address, &contents.bytes)?;
        }
        let mut time = 0.0;
        for launch in &case.launches {
            let grid = launch.grid()?;
            device.set(module, LAUNCH, &grid.shape.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>())?;
            let (arguments, shared) = bytes(&launch.arguments()?, |name| Some(places.get(name)?.0))?;
            for _ in 0..launch.times() {
                let Grid { groups, items, .. } = grid;
                time +=
                    device.launch(&Launching { module, kernel: &launch.kernel, groups, items, shared, arguments: &arguments })?;
            }
        }
        fastest = fastest.min(time);
        if run == 0 {
            problem = wrong(device, case, &places)?;
        }
    }
    for (address, _) in places.values() {
        device.free(*address)?;
    }
    device.unload(module)?;
    Ok((fastest, problem))
}

/// The first buffer that differs from what the case expects.
fn wrong(device: &mut dyn Device, case: &Case, places: &BTreeMap<&str, (u64, super::case::Array)>) -> Result<Option<String>> {
    for (name, buffer) in &case.buffers {
        let (address, contents) = &places[name.as_str()];
        let mut bytes = vec![0; contents.bytes.len()];
        device.download(*address, &mut bytes)?;
        if let Some(difference) = case.difference(buffer, &bytes)? {
            return Ok(Some(format!("{name}{difference}")));
        }
    }
    Ok(None)
}

/// The bytes of arguments, and of work-group memory that they need together.
fn bytes(arguments: &[Argument], address: impl Fn(&str) -> Option<u64>) -> Result<(Vec<Vec<u8>>, u32)> {
    let mut shared = 0u64;
    let one = |a: &Argument| -> Result<Vec<u8>> {
        Ok(match a {
            Argument::Value(bytes) => bytes.clone(),
            Argument::Buffer(name, offset) => {
                let start = address(name).with_context(|| format!("there is no buffer {name}"))?;
                (start + offset).to_le_bytes().to_vec()
            }
            Argument::Local(size) => {
                // Each at a multiple of 16, as Heddle's driver places them.
                let offset = shared.next_multiple_of(16);
                shared = offset + size;
                offset.to_le_bytes().to_vec()
            }
        })
    };
    let all = arguments.iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok((all, u32::try_from(shared)?))
}

/// A micro-kernel's launch.
struct Micro<'a> {
    module: u64,
    kernel: &'a str,
    groups: u32,
    items: u32,
}

impl Micro<'_> {
    /// Microseconds, the fastest of several launches.
    fn time(&self, device: &mut dyn Device, arguments: &[Vec<u8>]) -> Result<f64> {
        let (groups, items) = ([self.groups, 1, 1], [self.items, 1, 1]);
        let shape = [1, 0, 0, 0, self.groups * self.items, 1, 1];
        device.set(self.module, LAUNCH, &shape.iter().flat_map(|n: &u32| n.to_le_bytes()).collect::<Vec<u8>>())?;
        let launching = Launching { module: self.module, kernel: self.kernel, groups, items, shared: 0, arguments };
        let mut fastest = f64::INFINITY;
        for _ in 0..RUNS {
            fastest = fastest.min(device.launch(&launching)?);
        }
        Ok(fastest)
    }

    /// Cycles a step: the difference of a launch with `steps` and one with twice as many.
    fn cycles(&self, device: &mut dyn Device, steps: u32, arguments: impl Fn(u32) -> Vec<Vec<u8>>) -> Result<f64> {
        let once = self.time(device, &arguments(steps))?;
        let twice = self.time(device, &arguments(2 * steps))?;
        Ok((twice - once) * device.clock_mhz()? / f64::from(steps))
    }
}

/// A ring of `bytes` in random order, one element a line: element i holds the index of the next.
fn ring(bytes: usize, line: usize) -> Vec<u8> {
    let (step, lines) = (line / 4, (bytes / line).max(2));
    let mut order: Vec<usize> = (1..lines).collect();
    // A fixed sequence, so that runs are comparable.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..order.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    let mut words = vec![0u32; lines * step];
    let mut at = 0;
    for next in order.into_iter().chain([0]) {
        words[at * step] = (next * step) as u32;
        at = next;
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The curves of all micro-kernels.
///
/// # Errors
/// The device failed.
pub fn micro(device: &mut dyn Device, ptx: &Ptx) -> Result<Vec<Curve>> {
    let module = device.load(&ptx.text)?;
    let out = device.allocate(4 << 20)?;
    let mut curves = vec![chase(device, module, out)?];
    for (kernel, operation, zero) in [
        ("chain_i32_add", "i32 xor and add", vec![0u8; 4]),
        ("chain_i32_mul", "i32 multiply and add", vec![0; 4]),
        ("chain_f32_fma", "f32 fma", vec![0; 4]),
        ("chain_f64_fma", "f64 fma", vec![0; 8]),
        ("chain_f32_divide", "f32 divide", 1f32.to_le_bytes().to_vec()),
    ] {
        let one = Micro { module, kernel, groups: 1, items: 32 };
        let word = |n: u32| n.to_le_bytes().to_vec();
        let cycles = one.cycles(device, 1 << 14, |n| vec![out.to_le_bytes().to_vec(), zero.clone(), zero.clone(), word(n)])?;
        curves.push(curve("chain", Some(operation), "chains", "cycles", vec![(1.0, cycles)]));
    }
    curves.push(triad(device, module)?);
    let conflicts = Micro { module, kernel: "local_chase", groups: 1, items: 32 };
    let mut points = Vec::new();
    for ways in [1u32, 2, 4, 8, 16, 32] {
        let word = |n: u32| n.to_le_bytes().to_vec();
        let cycles = conflicts.cycles(device, 1 << 12, |n| vec![out.to_le_bytes().to_vec(), word(ways), word(n)])?;
        points.push((f64::from(ways), cycles));
    }
    curves.push(curve("local-conflicts", None, "ways", "cycles", points));
    let empty = Micro { module, kernel: "nothing", groups: 1, items: 32 };
    curves.push(curve(
        "launch",
        None,
        "launches",
        "microseconds",
        vec![(1.0, empty.time(device, &[out.to_le_bytes().to_vec()])?)],
    ));
    device.free(out)?;
    device.unload(module)?;
    Ok(curves)
}

/// Dependent loads over rings from 4 KiB to 64 MiB.
fn chase(device: &mut dyn Device, module: u64, out: u64) -> Result<Curve> {
    let one = Micro { module, kernel: "chase", groups: 1, items: 1 };
    let mut points = Vec::new();
    for shift in 12..27 {
        let words = ring(1 << shift, 128);
        let address = device.allocate(words.len())?;
        device.upload(address, &words)?;
        // At least once round, so that the first round fills the caches.
        let steps = ((words.len() / 128) as u32).max(1 << 13);
        let arguments = |n: u32| vec![address.to_le_bytes().to_vec(), out.to_le_bytes().to_vec(), n.to_le_bytes().to_vec()];
        points.push((f64::from(1u32 << shift), one.cycles(device, steps, arguments)?));
        device.free(address)?;
    }
    Ok(curve("pointer-chase", None, "bytes", "cycles", points))
}

/// Bandwidth of device memory over work-items: three arrays of 64 MiB.
fn triad(device: &mut dyn Device, module: u64) -> Result<Curve> {
    let n = 16u32 << 20;
    let arrays = [device.allocate(4 * n as usize)?, device.allocate(4 * n as usize)?, device.allocate(4 * n as usize)?];
    let mut arguments: Vec<Vec<u8>> = arrays.iter().map(|a| a.to_le_bytes().to_vec()).collect();
    arguments.extend([2f32.to_le_bytes().to_vec(), n.to_le_bytes().to_vec()]);
    let mut points = Vec::new();
    for share in [1, 2, 4, 8] {
        let all = Micro { module, kernel: "triad", groups: device.processors()? * share, items: 256 };
        let gigabytes = 12.0 * f64::from(n) / 1e9;
        points.push((f64::from(all.groups * all.items), gigabytes / (all.time(device, &arguments)? * 1e-6)));
    }
    for array in arrays {
        device.free(array)?;
    }
    Ok(curve("stream-triad", None, "work-items", "GB/s", points))
}

fn curve(kind: &str, operation: Option<&str>, x: &str, y: &str, points: Vec<(f64, f64)>) -> Curve {
    Curve { kind: kind.into(), operation: operation.map(Into::into), x: x.into(), y: y.into(), points }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::root;

    /// A stand-in that takes one microsecond a launch and a hundredth a step (three for `saxpy`), spoils the last
    /// buffer of `saxpy` if it is to be wrong, and remembers what it was asked.
    #[derive(Default)]
    struct Standing {
        memory: BTreeMap<u64, Vec<u8>>,
        next: u64,
        launches: Vec<(String, [u32; 3], u32)>,
        shape: Vec<u8>,
        wrong: bool,
    }

    impl Device for Standing {
        fn name(&self) -> Result<String> {
            Ok("stand-in".into())
        }
        fn driver(&self) -> Result<String> {
            Ok("none".into())
        }
        fn compute_capability(&self) -> Result<u32> {
            Ok(70)
        }
        fn clock_mhz(&self) -> Result<f64> {
            Ok(1000.0)
        }
        fn processors(&self) -> Result<u32> {
            Ok(4)
        }
        fn load(&mut self, _: &str) -> Result<u64> {
            Ok(7)
        }
        fn unload(&mut self, module: u64) -> Result<()> {
            assert_eq!(module, 7);
            Ok(())
        }
        fn allocate(&mut self, bytes: usize) -> Result<u64> {
            self.next += 1 << 32;
            self.memory.insert(self.next, vec![0; bytes]);
            Ok(self.next)
        }
        fn free(&mut self, address: u64) -> Result<()> {
            self.memory.remove(&address).context("freed twice")?;
            Ok(())
        }
        fn upload(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
            self.memory.get_mut(&address).context("no memory")?.copy_from_slice(bytes);
            Ok(())
        }
        fn download(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
            bytes.copy_from_slice(&self.memory[&address]);
            Ok(())
        }
        fn set(&mut self, _: u64, variable: &str, bytes: &[u8]) -> Result<()> {
            assert_eq!(variable, LAUNCH);
            self.shape = bytes.to_vec();
            Ok(())
        }
        fn launch(&mut self, l: &Launching<'_>) -> Result<f64> {
            self.launches.push((l.kernel.into(), l.groups, l.shared));
            if l.kernel == "saxpy" {
                let words = l.arguments.iter().filter(|a| a.len() == 8).map(|a| u64::from_le_bytes(a[..8].try_into().unwrap()));
                // Offsets of work-group memory have 8 bytes, too.
                let addresses: Vec<u64> = words.filter(|a| *a >= 1 << 32).collect();
                assert!(addresses.iter().all(|a| self.memory.contains_key(a)), "{addresses:?}");
                if self.wrong {
                    self.memory.get_mut(&addresses[addresses.len() - 1]).unwrap()[0] = 0x55;
                }
                return Ok(3.0);
            }
            let steps = l.arguments.last().map_or(0, |a| u32::from_le_bytes(a[..4].try_into().unwrap()));
            Ok(1.0 + f64::from(steps) * 0.01)
        }
    }

    fn ptx() -> Ptx {
        Ptx { text: String::new(), kernels: vec!["saxpy".into()], assembled: false }
    }

    #[test]
    fn a_case_is_uploaded_launched_timed_and_compared() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{"source":"kernel.cl","buffers":{"x":{"zeros":[64],"dtype":"int32"},"y":{"zeros":[64],"dtype":"int32","expect":"y.npy"}},
            "launches":[{"kernel":"saxpy","global":[64],"local":[32],"repeat":2,"args":[{"buffer":"x"},{"i32":5},{"local":20},{"local":8},{"buffer":"y"}]}]}"#;
        std::fs::write(folder.path().join("case.json"), text).unwrap();
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(format!("{:<117}\n", "{'descr': '<i4', 'fortran_order': False, 'shape': (64,), }").bytes());
        npy.extend([0; 256]);
        std::fs::write(folder.path().join("y.npy"), npy).unwrap();
        let read = Case::read(&folder.path().join("case.json")).unwrap();
        assert_eq!(read.lacks(), None);
        let mut device = Standing::default();
        assert_eq!(case(&mut device, &read, &ptx()).unwrap(), (6.0, None));
        assert_eq!(device.launches.len(), 2 * RUNS);
        // 20 bytes, then 8 at the next multiple of 16.
        assert_eq!(device.launches[0], ("saxpy".into(), [2, 1, 1], 40));
        assert_eq!(device.shape, [1u32, 0, 0, 0, 64, 1, 1].iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>());
        assert!(device.memory.is_empty(), "all memory is given back");
        let mut device = Standing { wrong: true, ..Default::default() };
        assert_eq!(case(&mut device, &read, &ptx()).unwrap().1.as_deref(), Some("y[0]: 85 instead of 0"));
    }

    #[test]
    fn a_ring_goes_once_through_all_lines() {
        let words: Vec<u32> = ring(4096, 128).chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
        let (mut at, mut seen) = (0usize, Vec::new());
        for _ in 0..32 {
            seen.push(at);
            at = words[at] as usize;
        }
        assert_eq!(at, 0);
        seen.sort_unstable();
        assert_eq!(seen, (0..32).map(|i| i * 32).collect::<Vec<_>>());
        assert_ne!(words[0], 32, "in random order");
    }

    #[test]
    fn what_a_launch_costs_falls_out_of_cycles() {
        let mut device = Standing::default();
        let curves = micro(&mut device, &ptx()).unwrap();
        let of = |kind: &str| curves.iter().find(|c| c.kind == kind).unwrap();
        // A step takes 0.01 microseconds, at 1000 MHz ten cycles.
        for kind in ["pointer-chase", "local-conflicts", "chain"] {
            assert!(of(kind).points.iter().all(|(_, y)| (y - 10.0).abs() < 1e-6), "{:?}", of(kind));
        }
        assert_eq!(of("pointer-chase").points.len(), 15);
        assert_eq!(of("stream-triad").points[0].0, 4.0 * 256.0);
        assert!(device.memory.is_empty());
    }

    #[test]
    fn micro_kernels_are_those_of_the_source() {
        let source = std::fs::read_to_string(root().join("xtask/src/gpu/micro.cl")).unwrap();
        let mut device = Standing::default();
        micro(&mut device, &ptx()).unwrap();
        for (kernel, ..) in &device.launches {
            assert!(source.contains(&format!("void {kernel}(")) || source.contains(&format!("CHAIN({kernel},")), "{kernel}");
        }
    }
}
