//! The languages of sources, by the ends of their names, and what clang is told of CUDA and HIP.
//!
//! Device code of CUDA and HIP is compiled for the target that OpenCL C is compiled for, with headers of our own
//! (`builtins/heddle_simt.h`), before any of clang's passes. Then [`heddle_llvm_passes::cuda_kernels`] makes its kernels like
//! those of OpenCL C, and clang runs its pipeline on the result, so that it sees pointers to global memory as such.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use heddle_llvm_passes::by_value;
use heddle_llvm_passes::cuda_kernels::{self, INSTANCE};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

use crate::error::{io, llvm, pass};
use crate::{FrontendError, FrontendOptions};

/// What a source is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// OpenCL C: `.cl`, and whatever has no other known end.
    #[default]
    OpenClC,
    /// C++ for OpenCL: `.clcpp`.
    OpenClCpp,
    /// Device code of CUDA: `.cu`.
    Cuda,
    /// Device code of HIP: `.hip`, and `.cpp`, `.cc`, `.cxx`.
    Hip,
    /// SPIR-V: `.spv`.
    SpirV,
    /// The text of SPIR-V: `.spvasm`.
    SpirVText,
}

/// Our headers by the names under which sources include them; the first two are those of CUDA and HIP.
pub(crate) static HEADERS: [(&str, &str); 20] = [
    ("heddle_cuda.h", include_str!("../../../builtins/heddle_cuda.h")),
    ("heddle_hip.h", include_str!("../../../builtins/heddle_hip.h")),
    ("heddle_simt.h", include_str!("../../../builtins/heddle_simt.h")),
    ("heddle_simt_host.h", include_str!("../../../builtins/heddle_simt_host.h")),
    ("cooperative_groups.h", include_str!("../../../builtins/cooperative_groups.h")),
    ("heddle_groups.h", include_str!("../../../builtins/heddle_groups.h")),
    ("heddle_bfloat16.h", include_str!("../../../builtins/heddle_bfloat16.h")),
    ("cooperative_groups/reduce.h", GROUP_FUNCTIONS),
    ("cooperative_groups/scan.h", GROUP_FUNCTIONS),
    ("cuda_bf16.h", BFLOAT16),
    ("hip/hip_bf16.h", BFLOAT16),
    ("cuda.h", INCLUDED),
    ("cuda_runtime.h", INCLUDED),
    ("cuda_runtime_api.h", INCLUDED),
    ("cuda_fp16.h", INCLUDED),
    ("cuda_profiler_api.h", INCLUDED),
    ("device_launch_parameters.h", INCLUDED),
    ("math_constants.h", include_str!("../../../builtins/math_constants.h")),
    ("hip/hip_runtime.h", INCLUDED),
    ("hip/hip_fp16.h", INCLUDED),
];

const GROUP_FUNCTIONS: &str = "#pragma once\n#include \"heddle_groups.h\"\n";
const BFLOAT16: &str = "#pragma once\n#include \"heddle_bfloat16.h\"\n";

/// What stands in headers of other systems that sources include by habit.
const INCLUDED: &str = "// What Heddle has of it is included before the first line of a source.\n#pragma once\n";

impl Language {
    /// The language of a file of this name.
    pub fn of(name: &Path) -> Language {
        match name.extension().and_then(OsStr::to_str) {
            Some("clcpp") => Language::OpenClCpp,
            Some("cu") => Language::Cuda,
            // hipcc takes C++ for HIP, and no other language here has its ends.
            Some("hip" | "cpp" | "cc" | "cxx") => Language::Hip,
            Some("spv") => Language::SpirV,
            Some("spvasm") => Language::SpirVText,
            _ => Language::OpenClC,
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Language::OpenClC => "OpenCL C",
            Language::OpenClCpp => "C++ for OpenCL",
            Language::Cuda => "CUDA",
            Language::Hip => "HIP",
            Language::SpirV | Language::SpirVText => "SPIR-V",
        }
    }

    /// Whether it is CUDA or HIP.
    pub fn is_cuda_like(self) -> bool {
        matches!(self, Language::Cuda | Language::Hip)
    }

    /// Whether it is SPIR-V, which clang does not compile.
    pub fn is_spirv(self) -> bool {
        matches!(self, Language::SpirV | Language::SpirVText)
    }
}

/// Arguments of clang for the language: CUDA or HIP, with headers in the folder `headers`.
pub(crate) fn add_arguments(command: &mut Command, language: Language, headers: &Path, options: &FrontendOptions) {
    let own = match language {
        Language::Hip => {
            command.args(["-x", "hip", "--offload-arch=gfx906", "-nogpuinc", "-nogpulib"]);
            // The driver knows processors of one machine for HIP; the last word of a kind is what counts.
            command.args(["-Xclang", "-target-cpu", "-Xclang", "sm_70", "-U__CUDA_ARCH__"]);
            "heddle_hip.h"
        }
        _ => {
            command.args(["-x", "cuda", "--offload-arch=sm_70", "-nocudainc", "-nocudalib"]);
            "heddle_cuda.h"
        }
    };
    command.args(["--cuda-device-only", "-Xclang", "-triple", "-Xclang", "nvptx64--", "-U__NVPTX__", "-U__PTX__"]);
    command.args(["-Xclang", "-fcuda-allow-variadic-functions", "-fno-builtin-printf", "-fno-exceptions", "-fno-rtti"]);
    // As in OpenCL C: multiplication and addition are one where an expression has both.
    command.arg("-ffp-contract=on");
    if !options.clang_args.iter().any(|a| a.starts_with("-std=")) {
        command.arg("-std=c++17");
    }
    command.arg("-D__HEDDLE__=1").arg("-isystem").arg(headers).args(["-include", own]);
    // Nothing of the folder gets into the code.
    command.arg(format!("-fdebug-prefix-map={}=heddle", headers.display()));
    command.arg(options.opt.flag());
}

/// What a source of CUDA or HIP with a host program is compiled with: headers that hosts rely on and that take time to read.
pub(crate) fn host_definition(language: Language, text: &[u8]) -> Option<&'static str> {
    let has = |word: &[u8]| text.windows(word.len()).any(|w| w == word);
    let is_part_of_name = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    // Not `domain(`.
    let begins = |word: &[u8]| {
        let ends_before = |at: usize| at == 0 || !is_part_of_name(&text[at - 1]);
        text.windows(word.len()).enumerate().any(|(at, w)| w == word && ends_before(at))
    };
    let of_hosts: [&[u8]; 3] = [b"<<<", b"hipLaunchKernel", b"cudaLaunchKernel"];
    let is_host = of_hosts.into_iter().any(has) || begins(b"main(") || begins(b"main (") || !has(b"__global__");
    (language.is_cuda_like() && is_host).then_some("-D__HEDDLE_HOST__=1")
}

/// Writes all headers to a folder.
pub(crate) fn write_headers(folder: &Path) -> Result<(), FrontendError> {
    let write = |(name, text): &(&str, &str)| {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    };
    HEADERS.iter().try_for_each(write).map_err(io("writing Heddle's headers"))
}

/// A source, with what makes clang instantiate kernels that are named with arguments of their templates.
pub(crate) fn with_instances(name: &str, text: &[u8], kernels: &[String]) -> Option<Vec<u8>> {
    let templates: Vec<&String> = kernels.iter().filter(|k| k.ends_with('>')).collect();
    if templates.is_empty() {
        return None;
    }
    let quoted = |s: &str| s.replace('\\', "\\\\").replace('"', "\\\"");
    let mut result = format!("#line 1 \"{}\"\n", quoted(name)).into_bytes();
    result.extend_from_slice(text);
    let mut instances = String::new();
    for (number, kernel) in templates.into_iter().enumerate() {
        // Errors name the kernel in the place of a file.
        let _ = write!(instances, "\n#line 1 \"kernel {}\"\n", quoted(kernel));
        let variable = format!("static __device__ auto *const __heddle_kernel_{number}");
        let _ = writeln!(instances, "{variable} __asm__(\"{INSTANCE}{}\") __attribute__((used)) = &{kernel};", quoted(kernel));
    }
    result.extend_from_slice(instances.as_bytes());
    Some(result)
}

/// Makes kernels of clang's bitcode of CUDA or HIP like those of OpenCL C.
pub(crate) fn import_kernels(bitcode: &[u8], name: &str, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, name);
    let module = context.create_module_from_ir(buffer).map_err(|e| llvm(name, &e.to_string()))?;
    cuda_kernels::import(&module).map_err(pass)?;
    by_value::copy(&module);
    let wrong = |reason| FrontendError::Input { input: name.into(), reason };
    cuda_kernels::set_variables(&module, &options.variables).map_err(wrong)?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_their_ends() {
        let of = |name: &str| Language::of(Path::new(name));
        assert_eq!(
            [of("a/k.cl"), of("k.clcpp"), of("k.cu"), of("k.hip"), of("k")].map(Language::is_cuda_like),
            [false, false, true, true, false]
        );
        assert_eq!(of("k.clcpp"), Language::OpenClCpp);
        assert_eq!(["k.hip", "k.cpp", "k.cc", "k.cxx"].map(of), [Language::Hip; 4]);
    }

    #[test]
    fn host_programs_are_seen() {
        let has = |language, text: &str| host_definition(language, text.as_bytes()).is_some();
        let kernel = "__global__ void k() {}";
        assert!(!has(Language::Cuda, kernel) && !has(Language::OpenClC, "int main() {}"));
        assert!(
            has(Language::Cuda, &format!("{kernel} int main() {{}}")) && has(Language::Hip, &format!("{kernel} k<<<1, 1>>>()"))
        );
        assert!(has(Language::Cuda, "void of_a_host() {}"));
        assert!(!has(Language::Cuda, &format!("{kernel} void domain(int); int remain (int);")));
        assert!(has(Language::Hip, &format!("main(){{}} {kernel}")));
    }

    #[test]
    fn spirv_has_its_ends() {
        let of = |name: &str| Language::of(Path::new(name));
        assert!(of("k.spv").is_spirv() && of("a/k.spvasm").is_spirv() && !of("k.cl").is_spirv());
    }

    #[test]
    fn only_templates_are_instantiated() {
        assert_eq!(with_instances("k.cu", b"", &["plain".into()]), None);
        let text = with_instances("k.cu", b"x", &["plain".into(), "ns::f<int, 2>".into()]).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("#line 1 \"k.cu\"\nx\n#line 1 \"kernel ns::f<int, 2>\"\n"), "{text}");
        assert!(text.contains("= &ns::f<int, 2>;"), "{text}");
    }
}
