//! The tests of exact cycles in `tests/lit/timing`, run without a command line: the same files, launches and
//! expectations, as fast as the simulator is, so that a changed simulator is found out after one crate's build.

use std::path::{Path, PathBuf};

use heddle_object::asm;
use heddle_sim::{DeviceMemory, Hierarchy, Launch, Options, Program, Simulation, Statistics};
use heddle_target::Machine;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lit/timing")
}

/// A launch as a RUN line describes it, and what must be in its statistics, in this order.
struct Test {
    set: Vec<String>,
    global: u32,
    local: Option<u32>,
    offset: u32,
    buffers: Vec<u64>,
    prefix: String,
    checks: Vec<String>,
}

/// The tests of a file.
fn tests(text: &str, name: &str) -> Vec<Test> {
    let runs = text.lines().filter_map(|l| l.strip_prefix("; RUN: %heddle run %s --target %S/Inputs/machine.toml "));
    let of = |line: &str| {
        let (words, check) = line.split_once("--json - | FileCheck %s").unwrap_or_else(|| panic!("{name}: {line}"));
        let prefix = check.trim().strip_prefix("--check-prefix=").unwrap_or("CHECK").to_string();
        let found = text.lines().filter_map(|l| l.strip_prefix(&format!("; {prefix}: ")));
        let checks: Vec<String> = found.map(String::from).collect();
        let mut test = Test { set: Vec::new(), global: 0, local: None, offset: 0, buffers: Vec::new(), prefix, checks };
        let mut words = words.split_whitespace();
        while let (Some(option), Some(value)) = (words.next(), words.next()) {
            let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{name}: {option} {text}"));
            match option {
                // As the shell gives it.
                "--set" => test.set.push(value.trim_matches('"').into()),
                "--global" => test.global = number(value),
                "--local" => test.local = Some(number(value)),
                "--offset" => test.offset = number(value),
                "--arg" => {
                    let words = value.split_once("=zeros:uint32:").unwrap_or_else(|| panic!("{name}: {value}")).1;
                    test.buffers.push(4 * u64::from(number(words)));
                }
                _ => panic!("{name}: unknown option {option}"),
            }
        }
        test
    };
    runs.map(of).collect()
}

fn run(text: &str, test: &Test) -> Statistics {
    let machine = Machine::load(Some(&folder().join("Inputs/machine.toml")), &test.set).unwrap();
    let image = asm::assemble(text).unwrap();
    let program = Program::from_image(&image, 0, &machine).unwrap();
    let mut memory = DeviceMemory::new(machine.memory.device_bytes);
    let local = test.local.unwrap_or(test.global);
    let mut launch = Launch::new(&program, [test.global, 1, 1], [local, 1, 1]);
    (launch.work_dim, launch.offset) = (1, [test.offset, 0, 0]);
    for (i, bytes) in test.buffers.iter().enumerate() {
        let address = memory.allocate(&format!("buffer {i}"), *bytes).unwrap();
        launch.set_argument(8 + 8 * i, &address.to_le_bytes());
    }
    let options = Options { threads: 1, ..Options::default() };
    Simulation::new(&launch, &memory, &machine, &options).timing(&mut Hierarchy::new(&machine)).unwrap()
}

#[test]
fn cycles_are_exact() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "s"));
    files.sort();
    assert!(files.len() >= 30, "{} files", files.len());
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let all = tests(&text, &name);
        assert!(!all.is_empty(), "{name}: no RUN line that is understood");
        for test in all {
            let statistics = run(&text, &test);
            let json = serde_json::to_string_pretty(&serde_json::to_value(&statistics).unwrap()).unwrap();
            count += 1;
            // As FileCheck, line after line.
            let mut rest = json.as_str();
            assert!(!test.checks.is_empty(), "{name}: {} has no expectation", test.prefix);
            for check in &test.checks {
                match rest.split_once(check.replace("{{$}}", "\n").as_str()) {
                    Some((_, behind)) => rest = behind,
                    None => {
                        let cycles = statistics.cycles().unwrap_or(0);
                        wrong.push(format!("{name}, {}: no `{check}`; {cycles} cycles", test.prefix));
                        break;
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} launches:\n{}", wrong.len(), wrong.join("\n"));
}
