//! A device between launches: what kernels, the host and the caches see of each other's writes.

use super::super::{max_work_group_size, suggested_local};
use super::*;

/// `copy` copies words from `a`, which it only reads, to `b`; `follow` does so through the pointer in `a[0]`.
const KERNELS: &str = "\
  shl.b32 m0, gid.x, 2
  c3 ld.global.b32 m1, [c[0x8] + u32 m0]
  c3 st.global.b32 [c[0x10] + u32 m0], m1
  exit
";
const FOLLOW: &str = "\
  c3 ld.global.b64 m[2:3], [c[0x8]]
  c3 ld.global.b32 m1, [a64 m[2:3]]
  c3 st.global.b32 [c[0x10]], m1
  exit
";
const WORDS: u64 = 64;

struct Bench {
    image: Image,
    machine: Machine,
    options: Options,
    device: DeviceState,
}

fn header(name: &str, registers: u32) -> String {
    format!(
        r#".kernel {{"name":"{name}","text_offset":0,"text_size":0,"args":[{{"name":"a","type_name":"int*","kind":"global","offset":8,"size":8,"align":8,"read_only":true}},{{"name":"b","type_name":"int*","kind":"global","offset":16,"size":8,"align":8}}],"local_bytes":0,"private_bytes":0,"main_registers":{registers},"fixed_registers":{registers},"shared_demand":0,"local_registers":[0,0,0,0],"scalar_registers":0,"predicate_registers":0,"required_work_group":null,"warp_size":32}}"#
    )
}

impl Bench {
    fn new(memory: DeviceMemory) -> Bench {
        let object = r#".object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}"#;
        let (copy, follow, large) = (header("copy", 4), header("follow", 8), header("large", 200));
        let source = format!("{object}\n{copy}\n{KERNELS}\n{follow}\n{FOLLOW}\n{large}\n{KERNELS}");
        let machine = heddle_target::testing::mixed::<String>(&[]);
        let image = heddle_object::asm::assemble(&source).unwrap();
        Bench { image, device: DeviceState::new(memory, &machine), machine, options: Options::default() }
    }

    fn reserved() -> Bench {
        Bench::new(DeviceMemory::reserved(64 << 20).unwrap())
    }

    /// A buffer whose words are all the same.
    fn buffer(&mut self, word: u32) -> u64 {
        let address = self.device.memory.allocate("buffer", 4 * WORDS).unwrap();
        self.write(address, &vec![word; WORDS as usize]);
        address
    }

    fn write(&mut self, address: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.device.memory.write(address, &bytes));
        self.device.host_wrote(address, bytes.len() as u64);
    }

    fn words(&self, address: u64) -> Vec<u32> {
        let bytes = self.device.memory.read(address, 4 * WORDS as usize).unwrap();
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
    }

    fn launch(
        &mut self,
        mode: Mode,
        kernel: &str,
        arguments: [u64; 2],
        global: u64,
        indirect: &[u64],
    ) -> Result<Launched, RunError> {
        let spec = LaunchSpec {
            kernel: kernel.into(),
            global: vec![global],
            local: Some(vec![global.min(32)]),
            offset: None,
            repeat: 1,
            args: Vec::new(),
        };
        let arguments = arguments.map(|address| Argument::Pointer { address });
        let simulator = Simulator { machine: &self.machine, mode, options: &self.options };
        let request = Request { indirect, ..Request::by_address(&spec, 0, &arguments, 0) };
        self.device.launch(&self.image, &request, &simulator, &mut ())
    }

    fn copy(&mut self, mode: Mode, from: u64, to: u64) -> Launched {
        self.launch(mode, "copy", [from, to], WORDS, &[]).unwrap()
    }
}

#[test]
fn timed_launches_see_what_the_host_wrote() {
    let mut b = Bench::reserved();
    let (from, to) = (b.buffer(1), b.buffer(0));
    b.copy(Mode::Timing, from, to);
    assert_eq!(b.words(to), [1; WORDS as usize]);
    // The L1 has lines of `from`, which no kernel writes.
    b.write(from, &[2; WORDS as usize]);
    b.copy(Mode::Timing, from, to);
    assert_eq!(b.words(to), [2; WORDS as usize]);
}

#[test]
fn timed_launches_see_what_launches_without_timing_wrote() {
    let mut b = Bench::reserved();
    let (source, from, to) = (b.buffer(7), b.buffer(1), b.buffer(0));
    b.copy(Mode::Timing, from, to);
    b.copy(Mode::Functional, source, from);
    b.copy(Mode::Timing, from, to);
    assert_eq!(b.words(to), [7; WORDS as usize]);
    b.copy(Mode::Functional, to, source);
    assert_eq!(b.words(source), [7; WORDS as usize]);
}

/// Overlapping parts of an allocation are one allocation to the caches.
#[test]
fn pointers_into_one_allocation() {
    let mut b = Bench::reserved();
    let all = b.device.memory.allocate("all", 16 * WORDS).unwrap();
    let to = b.buffer(0);
    let source = b.buffer(9);
    b.copy(Mode::Timing, all + 4 * WORDS, to);
    assert_eq!(b.words(to), [0; WORDS as usize]);
    // Half of it is what the first launch has read.
    b.copy(Mode::Timing, source, all + 2 * WORDS);
    b.copy(Mode::Timing, all + 4 * WORDS, to);
    let half = WORDS as usize / 2;
    assert_eq!(b.words(to), [vec![9; half], vec![0; half]].concat());
}

#[test]
fn memory_reached_through_pointers_in_memory() {
    let mut b = Bench::reserved();
    let (node, value, source, to) = (b.buffer(0), b.buffer(3), b.buffer(4), b.buffer(0));
    b.write(node, &[value as u32, (value >> 32) as u32]);
    for mode in [Mode::Functional, Mode::Timing] {
        b.launch(mode, "follow", [node, to], 1, &[value]).unwrap();
        assert_eq!(b.words(to)[0], 3);
    }
    b.copy(Mode::Timing, source, value);
    b.launch(Mode::Timing, "follow", [node, to], 1, &[value]).unwrap();
    assert_eq!(b.words(to)[0], 4);
    let null = b.launch(Mode::Timing, "follow", [0, to], 1, &[]);
    assert!(matches!(null, Err(RunError::Fault(_))));
}

#[test]
fn a_device_goes_on_after_a_fault() {
    for mode in [Mode::Functional, Mode::Timing] {
        let mut b = Bench::reserved();
        let (from, to, source) = (b.buffer(1), b.buffer(0), b.buffer(5));
        b.copy(mode, from, to);
        // Both buffers end before the launch does.
        assert!(matches!(b.launch(mode, "copy", [source, to], 64 * WORDS, &[]), Err(RunError::Fault(_))), "{mode:?}");
        b.write(from, &[6; WORDS as usize]);
        b.copy(mode, from, to);
        assert_eq!(b.words(to), [6; WORDS as usize], "{mode:?}");
    }
}

#[test]
fn addresses_that_are_used_again() {
    let mut b = Bench::reserved();
    let (from, to) = (b.buffer(1), b.buffer(0));
    b.copy(Mode::Timing, from, to);
    assert!(b.device.free(from) && !b.device.free(from) && !b.device.free(to + 4));
    let again = b.buffer(8);
    assert_eq!(again, from);
    b.copy(Mode::Timing, again, to);
    assert_eq!(b.words(to), [8; WORDS as usize]);
    assert!(b.device.free(again));
    assert!(matches!(b.launch(Mode::Timing, "copy", [again, to], 1, &[]), Err(RunError::Fault(_))));
}

#[test]
fn flushed_caches_are_those_of_a_new_device() {
    let mut b = Bench::reserved();
    let (from, to) = (b.buffer(1), b.buffer(0));
    let cycles = |l: Launched| l.statistics.timing.map(|t| (t.cycles, t.hierarchy.l2.misses, t.hierarchy.invalidations));
    let cold = cycles(b.copy(Mode::Timing, from, to));
    let warm = cycles(b.copy(Mode::Timing, from, to));
    assert!(cold > warm);
    b.device.flush_caches(&b.machine);
    assert_eq!(cycles(b.copy(Mode::Timing, from, to)), cold);
    assert_eq!(b.words(to), [1; WORDS as usize]);
}

#[test]
fn an_image_that_is_unloaded_leaves_nothing() {
    let mut b = Bench::reserved();
    b.image.data = vec![1; 5000];
    let free = b.device.memory.available();
    let address = b.device.load(3, &b.image).unwrap();
    assert_eq!((b.device.load(3, &b.image).unwrap(), b.device.memory.read(address, 5000)), (address, Some(vec![1; 5000])));
    b.device.unload(3);
    assert_eq!((b.device.memory.available(), b.device.memory.find(address, 1).is_none()), (free, true));
    assert_eq!(b.device.load(3, &b.image).unwrap(), address);
}

/// The largest work-group that is said to fit does, and no larger one.
#[test]
fn work_group_sizes_are_those_that_launch() {
    let mut b = Bench::reserved();
    let (from, to) = (b.device.memory.allocate("from", 1 << 20).unwrap(), b.device.memory.allocate("to", 1 << 20).unwrap());
    let registers = b.machine.sm.main_registers;
    for (kernel, name) in ["copy", "follow", "large"].into_iter().enumerate() {
        let most = max_work_group_size(&b.image.metadata.kernels[kernel], &b.machine, 0);
        assert_eq!(name == "large", most < b.machine.sm.max_work_group_size, "{registers} registers, {most} work-items");
        let local = suggested_local(&b.image.metadata.kernels[kernel], [4096, 1, 1], &b.machine);
        assert!(local[0] <= most && local[0] >= 32);
        let mut launch = |items: u32| {
            let spec = LaunchSpec {
                kernel: if name == "large" { "large" } else { "copy" }.into(),
                global: vec![items.into()],
                local: Some(vec![items.into()]),
                offset: None,
                repeat: 1,
                args: Vec::new(),
            };
            let arguments = [from, to].map(|address| Argument::Pointer { address });
            let simulator = Simulator { machine: &b.machine, mode: Mode::Functional, options: &b.options };
            b.device.launch(&b.image, &Request::by_address(&spec, 0, &arguments, 0), &simulator, &mut ()).map(drop)
        };
        launch(most).unwrap();
        let Err(RunError::Refused(refusal)) = launch(most + 1) else { panic!("{name}: {} items run", most + 1) };
        let expected = if name == "large" { RefusalKind::Resources } else { RefusalKind::WorkGroupTooLarge };
        assert_eq!(refusal.kind, expected, "{refusal}");
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused_as_such() {
    let mut b = Bench::reserved();
    let buffers = b.buffer(1);
    let case = r#"{"source":"k.cl","buffers":{"x":{"zeros":[64]}},"launches":[
        {"kernel":"copy","global":[1],"args":[{"buffer":"x","offset":4},{"pointer":"null"}]},
        {"kernel":"copy","global":[1],"args":[{"buffer":"x","offset":257},{"buffer":"x"}]},
        {"kernel":"copy","global":[1],"args":[{"buffer":"x"}]}]}"#;
    let case = crate::case::Case::parse(case, "case.json", Default::default()).unwrap();
    let addresses = BTreeMap::from([("x", buffers)]);
    let results: Vec<RunError> = case
        .launches
        .iter()
        .map(|spec| {
            let arguments = spec.arguments().unwrap();
            let request =
                Request { addresses: &addresses, buffers: &case.buffers, ..Request::by_address(spec, 0, &arguments, 0) };
            let simulator = Simulator { machine: &b.machine, mode: Mode::Functional, options: &b.options };
            b.device.launch(&b.image, &request, &simulator, &mut ()).unwrap_err()
        })
        .collect();
    assert!(matches!(&results[0], RunError::Fault(_)));
    for (result, message) in results[1..].iter().zip(["257 is behind the end of buffer `x`, which has 256", "takes 2 arguments"])
    {
        let RunError::Refused(refusal) = result else { panic!("{result}") };
        assert!(refusal.kind == RefusalKind::Arguments && refusal.message.contains(message), "{refusal}");
    }
}

/// Memory of the host serves timing mode without a copy, with the same statistics as the device's own.
#[test]
fn timed_launches_work_in_memory_of_the_host() {
    let mut own = Bench::reserved();
    let (from, to) = (own.buffer(3), own.buffer(0));
    let statistics = own.copy(Mode::Timing, from, to).statistics;
    let mut b = Bench::new(DeviceMemory::pinned(64 << 20).unwrap());
    let (mut from, mut to) = ([3u32; WORDS as usize], [0u32; WORDS as usize]);
    let mut lend = |words: &mut [u32; WORDS as usize]| {
        // SAFETY: both arrays outlive their use, and only this test accesses them.
        unsafe { b.device.memory.lend_cached("words", words.as_mut_ptr().cast(), 4 * WORDS) }.unwrap()
    };
    let (source, target) = (lend(&mut from), lend(&mut to));
    assert_eq!(b.copy(Mode::Timing, source, target).statistics.timing, statistics.timing);
    let refused = b.launch(Mode::Functional, "copy", [source, target], WORDS, &[]);
    assert!(matches!(&refused, Err(RunError::Input(m)) if m.contains("timing mode")), "{refused:?}");
    assert!(b.device.free(source) && b.device.free(target));
    assert_eq!(to, [3; WORDS as usize]);
    // The caches know nothing of it any more.
    let (again, other) = (b.buffer(4), b.buffer(0));
    assert_eq!((again, other), (source, target));
    b.copy(Mode::Timing, again, other);
    assert_eq!(b.words(other), [4; WORDS as usize]);
    assert_eq!(to, [3; WORDS as usize]);
}
