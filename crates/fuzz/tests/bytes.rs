//! The properties of `heddle_fuzz::bytes` on stable Rust: the seeds hold them, and so does what mutation makes of the seeds. The libFuzzer targets in
//! `fuzz/` look at the same functions for longer; `HEDDLE_CORPUS=fuzz/corpus cargo test --release -p heddle-fuzz --test bytes` writes them seeds from all test kernels.

use std::path::{Path, PathBuf};

use heddle::driver::{self, CompileOptions, Emit};
use heddle::isa::{encode, sample};
use heddle::target::Machine;
use heddle_fuzz::bytes;
use rand::prelude::*;
use rand_pcg::Pcg64Mcg;

fn kernel(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("test-kernels").join(name).join("kernel.cl")
}

/// Larger seeds would make libFuzzer slow.
const MOST_SEED: usize = 24 << 10;

fn compiled(name: &str, emit: Emit, stop_after: Option<&str>) -> Vec<u8> {
    compile(name, emit, stop_after).unwrap_or_else(|| panic!("{name} does not compile"))
}

/// Nothing for a kernel that needs options of its case.
fn compile(name: &str, emit: Emit, stop_after: Option<&str>) -> Option<Vec<u8>> {
    let mut options = CompileOptions::default();
    options.codegen.stop_after = stop_after.map(Into::into);
    driver::compile(&[kernel(name)], emit, &options, &Machine::default_machine()).ok().map(|c| c.output)
}

/// All test kernels, as seeds of a corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folders = std::fs::read_dir(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("test-kernels")).unwrap();
    let mut names: Vec<String> = folders.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|n| kernel(n).is_file());
    names.sort();
    let seed = |name: &String| match target {
        "assembler" => compile(name, Emit::Asm, None),
        "mir" => compile(name, Emit::Mir, Some(["select", "schedule", "finish"][name.len() % 3])),
        "object" | "decoder" => compile(name, Emit::Obj, None),
        _ => std::fs::read(kernel(name).with_file_name("case.json")).ok(),
    };
    let code = |object: Vec<u8>| {
        if target == "decoder" {
            heddle::object::read::parse(&object).unwrap().text.into_iter().flat_map(u128::to_le_bytes).collect()
        } else {
            object
        }
    };
    names.iter().filter_map(seed).map(code).filter(|s| s.len() <= MOST_SEED).collect()
}

/// Valid inputs of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "decoder" => {
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let instruction = |(op, ty)| sample::instruction(op, ty, &mut random);
            let words = sample::operations().into_iter().map(instruction).map(|i| encode::encode(&i).unwrap());
            vec![words.flat_map(u128::to_le_bytes).collect()]
        }
        "assembler" => ["saxpy", "sgemm_tiled"].map(|k| compiled(k, Emit::Asm, None)).into(),
        "mir" => [("saxpy", "select"), ("sgemm_tiled", "schedule"), ("saxpy", "finish")]
            .map(|(k, stage)| compiled(k, Emit::Mir, Some(stage)))
            .into(),
        "object" => ["saxpy", "sgemm_tiled"].map(|k| compiled(k, Emit::Obj, None)).into(),
        _ => ["saxpy", "sgemm_tiled"].map(|k| std::fs::read(kernel(k).with_file_name("case.json")).unwrap()).into(),
    }
}

/// A few small changes, among them exchanging and repeating lines and replacing numbers.
fn mutate(seed: &[u8], random: &mut Pcg64Mcg) -> Vec<u8> {
    const NUMBERS: [&str; 8] = ["0", "-1", "255", "256", "4294967295", "4294967296", "18446744073709551615", "1e999"];
    let mut data = seed.to_vec();
    for _ in 0..random.random_range(1..4) {
        if data.is_empty() {
            break;
        }
        let at = random.random_range(0..data.len());
        let end = (at + random.random_range(1..40)).min(data.len());
        match random.random_range(0..7) {
            0 => data[at] ^= 1 << random.random_range(0..8),
            1 => data[at] = random.random(),
            2 => drop(data.drain(at..end)),
            3 => {
                let piece = data[at..end].to_vec();
                let to = random.random_range(0..=data.len());
                data.splice(to..to, piece);
            }
            4 => data.truncate(at),
            5 => {
                let number = NUMBERS.choose(random).unwrap();
                if let Some(first) = (at..data.len()).find(|i| data[*i].is_ascii_digit()) {
                    let behind = (first..data.len()).find(|i| !data[*i].is_ascii_digit()).unwrap_or(data.len());
                    data.splice(first..behind, number.bytes());
                }
            }
            _ => {
                let mut lines: Vec<Vec<u8>> = data.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let (i, j) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
                if random.random() {
                    lines.swap(i, j);
                } else {
                    let line = lines[i].clone();
                    lines.insert(j, line);
                }
                data = lines.join(&b'\n');
            }
        }
    }
    data
}

#[test]
fn seeds_are_accepted_and_mutants_break_no_property() {
    let count = std::env::var("HEDDLE_NIGHTLY").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    for (target, check) in bytes::TARGETS {
        if let Some(folder) = std::env::var_os("HEDDLE_CORPUS") {
            let folder = Path::new(&folder).join(target);
            std::fs::create_dir_all(&folder).unwrap();
            for (i, seed) in seeds(target).into_iter().chain(corpus(target)).enumerate() {
                assert!(check(&seed), "{target}: seed {i} of the corpus is refused");
                std::fs::write(folder.join(format!("seed-{i}")), &seed).unwrap();
            }
        }
        let (mut accepted, mut refused) = (0, 0);
        for seed in seeds(target) {
            assert!(check(&seed), "{target}: a seed is refused");
            let mut random = Pcg64Mcg::seed_from_u64(7);
            for _ in 0..count {
                let mutant = mutate(&seed, &mut random);
                let result = std::panic::catch_unwind(|| check(&mutant));
                match result {
                    Ok(true) => accepted += 1,
                    Ok(false) => refused += 1,
                    Err(_) => {
                        let path = std::env::temp_dir().join(format!("heddle-{target}-mutant"));
                        std::fs::write(&path, &mutant).unwrap();
                        panic!("{target}: a property does not hold; the input is in {}", path.display());
                    }
                }
            }
        }
        // Both happen, or the mutations test nothing.
        assert!(accepted > 20 && (refused > 20 || target == "decoder"), "{target}: {accepted} accepted, {refused} refused");
    }
}
