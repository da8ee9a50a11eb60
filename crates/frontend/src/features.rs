//! The features and extensions of OpenCL C that the device announces.
//!
//! The list stands in `builtins/features.rs`, which the build script of the built-in library reads, too.

include!("../../../builtins/features.rs");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;
    use crate::{FrontendOptions, clang, library};

    /// Macros that are defined for a program of a language version.
    fn macros(standard: &str) -> BTreeSet<String> {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("empty.cl");
        std::fs::write(&source, "").unwrap();
        let options = FrontendOptions { clang_args: vec![format!("-cl-std={standard}")], ..Default::default() };
        let mut command = Command::new(clang::clang_path());
        let header = clang::write_header(folder.path()).unwrap();
        clang::add_language_arguments(&mut command, &header, crate::Language::OpenClC, &options);
        let output = command.args(["-E", "-dM"]).args(&options.clang_args).arg(&source).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter_map(|l| l.strip_prefix("#define ")?.split([' ', '(']).next().map(String::from)).collect()
    }

    #[test]
    fn programs_see_what_is_announced_and_nothing_else() {
        let seen = macros("CL3.0");
        let lacking: Vec<&str> = FEATURES.iter().map(|f| f.name).filter(|n| !seen.contains(*n)).collect();
        assert!(lacking.is_empty(), "announced, but not defined: {lacking:?}");
        // What every device has, or has without a choice: clang defines it for any target.
        let always = |n: &str| ["__opencl_c_int64", "cl_khr_byte_addressable_store"].contains(&n) || n.contains("int32_");
        let announced = |n: &str| FEATURES.iter().any(|f| f.name == n);
        let more: Vec<&String> = seen
            .iter()
            .filter(|n| n.starts_with("__opencl_c_") || n.starts_with("cl_khr_"))
            .filter(|n| !announced(n) && !always(n))
            .collect();
        assert!(more.is_empty(), "defined, but not announced: {more:?}");
    }

    #[test]
    fn older_versions_have_no_macros_of_newer_ones() {
        let seen = macros("CL1.2");
        assert!(!FEATURES.iter().any(|f| f.by == By::Macro && seen.contains(f.name)), "{seen:?}");
    }

    #[test]
    fn the_library_has_a_function_of_each_feature() {
        let context = Context::create();
        let bitcode = MemoryBuffer::create_from_memory_range_copy(library::BUILTINS, "builtins");
        let library = context.create_module_from_ir(bitcode).unwrap();
        let defined = |f: &str| library.get_function(f).is_some_and(|f| f.count_basic_blocks() > 0);
        for feature in FEATURES.iter().filter(|f| !f.function.is_empty()) {
            assert!(defined(feature.function), "{} is announced, but there is no {}", feature.name, feature.function);
        }
    }

    #[test]
    fn each_feature_stands_once_and_says_why() {
        let names: BTreeSet<&str> = FEATURES.iter().map(|f| f.name).collect();
        assert_eq!(names.len(), FEATURES.len());
        assert!(FEATURES.iter().all(|f| !f.reason.is_empty()));
    }
}
