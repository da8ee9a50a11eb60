//! Allocations and releases of device memory, against a model and in great numbers.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const LIMIT: u64 = 1 << 20;

/// All four kinds of memory, and one in which a window ends.
fn kinds(limit: u64) -> Vec<DeviceMemory> {
    let reserved = [DeviceMemory::reserved(limit), DeviceMemory::reserved_spread(limit)];
    let across = DeviceMemory { base: 2 * WINDOW - 1001 * ALIGN, ..DeviceMemory::new(limit) };
    let moving = [DeviceMemory::new(limit), DeviceMemory::spread(limit), across];
    moving.into_iter().chain(reserved.into_iter().map(|m| m.unwrap())).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Allocate { bytes: u64, align: u64 },
    Free(usize),
    Write { which: usize, value: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![4 => 0u64..2000, 2 => 0u64..100_000, 1 => 0u64..2 * LIMIT];
    prop_oneof![
        3 => (bytes, 0u32..16).prop_map(|(bytes, a)| Step::Allocate { bytes, align: 1 << a }),
        2 => any::<usize>().prop_map(Step::Free),
        2 => (any::<usize>(), any::<u8>()).prop_map(|(which, value)| Step::Write { which, value }),
    ]
}

/// Does the steps on a memory and on a map of vectors.
fn compare(memory: &mut DeviceMemory, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut model: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let nth = |model: &BTreeMap<u64, Vec<u8>>, i: usize| model.keys().nth(i % model.len().max(1)).copied();
    for step in steps {
        let taken: u64 = model.values().map(|v| v.len() as u64 + GAP).sum();
        prop_assert_eq!(memory.available(), LIMIT - taken);
        match *step {
            Step::Allocate { bytes, align } => match memory.allocate_aligned("a", bytes, align) {
                Ok(address) => {
                    prop_assert!(taken + bytes + GAP <= LIMIT && address % align.max(ALIGN) == 0);
                    prop_assert!(is_in_one_window(address, bytes + 1), "two high words, or none before it");
                    let before = model.range(..=address).next_back().map_or(0, |(a, v)| a + v.len() as u64 + memory.gap);
                    let next = model.range(address..).next().map_or(u64::MAX, |(a, _)| *a);
                    prop_assert!(before <= address && address + bytes + memory.gap <= next, "overlap");
                    let data = memory.read(address, bytes as usize);
                    prop_assert!(data.is_some_and(|d| d.iter().all(|b| *b == 0)), "not zeroed");
                    model.insert(address, vec![0; bytes as usize]);
                }
                Err(_) => prop_assert!(taken + bytes + GAP > LIMIT),
            },
            Step::Free(which) => {
                let Some(address) = nth(&model, which) else { continue };
                prop_assert!(!memory.free(address + 1) && memory.free(address) && !memory.free(address));
                model.remove(&address);
            }
            Step::Write { which, value } => {
                let Some(address) = nth(&model, which) else { continue };
                let bytes = model[&address].len();
                let data = vec![value; bytes];
                prop_assert!(memory.write(address, &data));
                prop_assert_eq!(memory.root(address + bytes as u64 / 2), Some(address..address + bytes as u64));
                model.insert(address, data);
            }
        }
    }
    prop_assert!(memory.allocations().iter().map(|a| (a.address, a.bytes as usize)).eq(model.iter().map(|(a, v)| (*a, v.len()))));
    for (address, data) in &model {
        prop_assert!(memory.read(*address, data.len()).is_some_and(|d| d == *data));
        prop_assert!(memory.free(*address));
    }
    prop_assert_eq!((memory.used, memory.available(), memory.free.by_start.len()), (0, LIMIT, 0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn allocations_are_as_in_a_model(steps in prop::collection::vec(step(), 1..120)) {
        for mut memory in kinds(LIMIT) {
            compare(&mut memory, &steps)?;
        }
    }
}

#[test]
fn reserved_memory_stays_where_it_is() {
    let mut memory = DeviceMemory::reserved(1 << 30).unwrap();
    let a = memory.allocate("a", 100).unwrap();
    assert!(memory.write(a, &[7; 100]));
    let pointer = memory.host(a);
    assert_eq!(pointer as u64, a);
    for i in 0..100 {
        memory.allocate(&i.to_string(), 5 << 20).unwrap();
    }
    assert_eq!(memory.host(a), pointer);
    // SAFETY: a byte of an allocation that is not freed.
    assert_eq!(unsafe { pointer.add(99).read() }, 7);
}

#[test]
fn a_divided_allocation_is_freed_whole() {
    let variable = |name: &str, start: u32, bytes: u32| Variable { name: name.into(), start, bytes };
    for mut memory in kinds(LIMIT) {
        let before = memory.allocate("before", 8).unwrap();
        let data = memory.allocate("data", 1024).unwrap();
        let behind = memory.allocate("behind", 8).unwrap();
        memory.divide(data, &[variable("x", 0, 4), variable("y", 512, 4)]);
        let root = |m: &DeviceMemory, address: u64| m.root(address).map(|r| (r.start, r.end));
        assert_eq!(root(&memory, data + 514), Some((data, data + 1024)));
        assert_eq!((root(&memory, behind), memory.allocations().len()), (Some((behind, behind + 8)), 4));
        assert!(memory.write(data + 512, &[1; 4]));
        assert!(!memory.free(data + 512) && memory.free(data));
        assert!(memory.find(data, 1).is_none() && memory.find(data + 512, 1).is_none());
        assert_eq!(memory.allocate("again", 1024).unwrap(), data);
        assert_eq!(memory.read(data, 1024), Some(vec![0; 1024]));
        assert!([before, data, behind].iter().all(|a| memory.free(*a)));
        assert_eq!(memory.available(), LIMIT);
    }
}

/// Pairs of allocation and release need no more memory.
#[test]
fn freed_memory_is_given_out_again() {
    let mut memory = DeviceMemory::reserved(1 << 30).unwrap();
    let mut live = std::collections::VecDeque::new();
    let mut random = 1u64;
    for _ in 0..200_000 {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        live.push_back(memory.allocate("b", (random >> 33) % 20_000).unwrap());
        if live.len() > 300 {
            assert!(live.pop_front().is_some_and(|a| memory.free(a)));
        }
    }
    assert!(memory.used < 40 << 20, "{} bytes for 6 MB", memory.used);
}

/// A kernel's races are found in reserved memory with gaps, and the same kernel without races has none.
#[test]
fn races_are_found_far_apart() {
    let machine = heddle_target::testing::mixed::<String>(&[]);
    let options = crate::Options { check_races: true, check_uninitialised: true, ..Default::default() };
    for (shift, races) in [(2, false), (0, true)] {
        let source = format!(
            "{}\n{}\n  add.b32 m0, gid.x, 3\n  shl.b32 m1, gid.x, {shift}\n  and.b32 m1, m1, -4\n  \
             c3 st.global.b32 [c[0x8] + u32 m1], m0\n  exit\n",
            r#".object {"version":1,"machine":"heddle","clusters":4,"kernels":[],"data_relocations":[],"data_align":1}"#,
            concat!(
                r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"#,
                r#""args":[{"name":"a","type_name":"uint*","kind":"global","offset":8,"size":8,"align":8}],"#,
                r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0,0,0],"#,
                r#""scalar_registers":0,"predicate_registers":0,"required_work_group":null,"warp_size":32}"#
            ),
        );
        let image = heddle_object::asm::assemble(&source).unwrap();
        let program = crate::Program::from_image(&image, 0, &machine).unwrap();
        for mut memory in kinds(LIMIT) {
            let buffers: Vec<u64> = (0..40).map(|i| memory.allocate(&format!("b{i}"), 1024).unwrap()).collect();
            for a in [buffers[0], buffers[39]] {
                let mut launch = crate::Launch::new(&program, [100, 1, 1], [50, 1, 1]);
                launch.set_argument(8, &a.to_le_bytes());
                let result = crate::Simulation::new(&launch, &memory, &machine, &options).functional();
                let race = result.is_err_and(|f| matches!(f.kind, crate::FaultKind::Race(_)));
                assert_eq!(race, races);
                let word = memory.read(a, 4).unwrap();
                assert!(races || word == [3, 0, 0, 0]);
            }
        }
    }
}

/// What the host lends is read and written in its place, and found wherever allocations are.
#[test]
fn the_host_lends_memory() {
    let mut memory = DeviceMemory::pinned(LIMIT).unwrap();
    assert_eq!(memory.allocate("own", 64).unwrap(), BASE_ADDRESS);
    let mut words = vec![0u128; 4];
    let start = words.as_mut_ptr().cast::<u8>();
    // SAFETY: `words` outlives its use, and only this test accesses it.
    let address = unsafe { memory.lend("lent", start, 64) }.unwrap();
    assert_eq!(memory.host(address), start);
    assert!(memory.find(address + 60, 4).is_some_and(|a| a.lent) && memory.find(address + 61, 4).is_none());
    assert!(memory.write(address + 16, &[1; 16]) && memory.read(address + 16, 16) == Some(vec![1; 16]));
    // Not twice, nor a part of it; not unaligned; not what is the device's.
    for (start, bytes) in
        [(start, 64), (start.wrapping_add(32), 64), (start.wrapping_add(72), 8), (memory.host(BASE_ADDRESS), 64)]
    {
        // SAFETY: it is refused.
        assert_eq!(unsafe { memory.lend("again", start, bytes) }, None);
    }
    assert!(!memory.free(address) && memory.give_back(address) && !memory.give_back(address));
    assert_eq!(memory.available(), LIMIT - 64 - 256);
    assert_eq!(words, [0, 0x0101_0101_0101_0101_0101_0101_0101_0101, 0, 0]);
    // SAFETY: it is refused, as this memory moves.
    assert_eq!(unsafe { DeviceMemory::new(LIMIT).lend("moving", words.as_mut_ptr().cast(), 64) }, None);
}

/// All of an allocation has one high word, also of a large one and where room was given back.
#[test]
fn allocations_do_not_cross_windows() {
    let mut memory = DeviceMemory::reserved(1 << 34).unwrap();
    let mut live = Vec::new();
    for step in 0..40u64 {
        let bytes = [3 << 29, 1 << 20, MAX_ALLOCATION, 5 << 28][step as usize % 4];
        if let Ok(address) = memory.allocate("large", bytes) {
            assert!(is_in_one_window(address, bytes + 1), "{bytes} bytes at {address:#x}");
            live.push(address);
        }
        if step % 3 == 2 {
            assert!(memory.free(live.remove(step as usize % live.len())));
        }
    }
    assert!(live.len() > 4);
    let refused = DeviceMemory::new(1 << 34).allocate("beyond", MAX_ALLOCATION + 1).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!(
            "`beyond` needs {} bytes; a buffer has at most {MAX_ALLOCATION}, as its offsets have 32 bits",
            MAX_ALLOCATION + 1
        )
    );
}

/// Nor is memory lent that does.
#[test]
fn lent_memory_does_not_cross_windows() {
    let mut memory = DeviceMemory::pinned(LIMIT).unwrap();
    let window_end = (BASE_ADDRESS + memory.region.bytes as u64).next_multiple_of(WINDOW) + WINDOW;
    for (below, lent) in [(32, false), (64, false), (MARGIN + 64, false), (MARGIN + 80, true)] {
        let start = memory.region.pointer.wrapping_add((window_end - below - BASE_ADDRESS) as usize);
        // SAFETY: nobody accesses it.
        let address = unsafe { memory.lend("lent", start, 64) };
        assert_eq!(address.is_some(), lent, "{below} bytes below");
    }
}

/// Several devices have ranges of their own below what the host gives others.
#[test]
fn ranges_lie_below_other_memory() {
    let devices: Vec<DeviceMemory> = (0..5).map(|_| DeviceMemory::pinned(LIMIT).unwrap()).collect();
    let boxed = Box::new(0u8);
    let starts: Vec<u64> = devices.iter().map(|d| d.host(BASE_ADDRESS) as u64).collect();
    assert!(starts.iter().all(|s| *s < (&raw const *boxed) as u64), "{starts:x?}");
}

/// Memory lent to timing mode has the address that an allocation would have, and is read and written in its place.
#[test]
fn the_host_lends_memory_to_caches() {
    for mut memory in [DeviceMemory::new(LIMIT), DeviceMemory::pinned(LIMIT).unwrap()] {
        let own = memory.allocate("own", 64).unwrap();
        let mut bytes = vec![7u8; 1000];
        // SAFETY: `bytes` outlives its use, and only this test accesses it.
        let address = unsafe { memory.lend_cached("lent", bytes.as_mut_ptr().wrapping_add(1), 900) }.unwrap();
        assert_eq!(address, own + 512);
        assert!(memory.wants_timing() && memory.find(address, 900).is_some_and(|a| a.lent));
        assert!(memory.write(address + 10, &[1; 10]) && memory.read(address + 5, 10) == Some([[7; 5], [1; 5]].concat()));
        // What moves when it grows is not the host's.
        let large = memory.allocate("large", 1 << 19).unwrap();
        assert!(memory.write(large, &[9; 64]) && memory.read(address, 1) == Some(vec![7]));
        let mut line = [5; 256];
        memory.copy_line(address + 768, &mut line);
        assert!(line[..132] == [7; 132] && line[132..] == [0; 124], "nothing behind the end");
        assert!(!memory.give_back(address) && memory.free(address) && !memory.wants_timing());
        assert_eq!(bytes.iter().position(|b| *b == 1), Some(11));
        // Its addresses are used again, and are zero.
        let again = memory.allocate("again", 900).unwrap();
        assert_eq!((again, memory.read(again, 900)), (address, Some(vec![0; 900])));
    }
}
