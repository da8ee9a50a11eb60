//! PTX of kernels: the IR that Heddle's instruction selection sees, with a library of what it calls, through
//! LLVM's back end for NVIDIA's GPUs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::shell;

/// A fence, as LLVM 19 has it for these GPUs.
const FENCE: &str = "  call void @llvm.nvvm.membar.sys()";
/// The IR is optimised already; what the library brings is inlined and cleaned up.
const PASSES: &str = "-passes=strip,internalize,always-inline,function(sroa,instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg),globaldce";
/// What kernels call.
const LIBRARY: &str = include_str!("library.cl");
/// The variable of the library that says how large a launch is.
pub const LAUNCH: &str = "heddle_launch";
/// Work-group memory whose size the launch says.
const DYNAMIC: &str = "@heddle_dynamic";

/// LLVM's programs, and NVIDIA's assembler if there is one.
pub struct Tools {
    clang: PathBuf,
    link: PathBuf,
    opt: PathBuf,
    llc: PathBuf,
    ptxas: Option<PathBuf>,
    heddle: PathBuf,
    /// Compute capability: 70 for Volta.
    sm: u32,
}

/// PTX, and what it is worth.
#[derive(Debug)]
pub struct Ptx {
    /// The text.
    pub text: String,
    /// Its kernels.
    pub kernels: Vec<String>,
    /// Whether an assembler took it; none was there if it is false.
    pub assembled: bool,
}

impl Tools {
    /// The programs in the PATH; `heddle` makes the IR.
    ///
    /// # Errors
    /// One of LLVM's is missing.
    pub fn find(heddle: PathBuf, sm: u32) -> Result<Tools> {
        let one = |name: &str| {
            let versioned = format!("{name}-19");
            shell::find(&versioned)
                .or_else(|| shell::find(name))
                .with_context(|| format!("there is no {versioned}; `cargo xtask setup --peers` installs LLVM's programs"))
        };
        let (clang, link, opt, llc) = (one("clang")?, one("llvm-link")?, one("opt")?, one("llc")?);
        Ok(Tools { clang, link, opt, llc, ptxas: shell::find("ptxas"), heddle, sm })
    }

    /// PTX of a source with options of the compiler.
    ///
    /// # Errors
    /// A program failed, or the kernels call what the library has not.
    pub fn make(&self, source: &Path, options: &[String]) -> Result<Ptx> {
        let folder = tempfile::tempdir()?;
        let file = |name: &str| folder.path().join(name);
        let mut build = Command::new(&self.heddle);
        build.arg("build").args(options).arg(source).args(["--emit", "ir", "-o", "-"]);
        let ir = for_gpu(&output(&mut build)?)?;
        let kernels = kernels(&ir);
        ensure!(!kernels.is_empty(), "{} has no kernel", source.display());
        std::fs::write(file("kernel.ll"), ir)?;
        std::fs::write(file("library.cl"), LIBRARY)?;
        let cpu = format!("sm_{}", self.sm);
        let mut compile = Command::new(&self.clang);
        compile.args([
            "-target",
            "nvptx64-unknown-unknown",
            "-Xclang",
            "-target-cpu",
            "-Xclang",
            &cpu,
            "-x",
            "cl",
            "-cl-std=CL3.0",
        ]);
        compile.args(["-Xclang", "-cl-ext=+__opencl_c_program_scope_global_variables", "-O1", "-S", "-emit-llvm"]);
        compile.args(["-Xclang", "-disable-llvm-passes", "-Wno-override-module"]);
        output(compile.arg(file("library.cl")).arg("-o").arg(file("library.ll")))?;
        let mut link = Command::new(&self.link);
        output(link.arg("-S").arg(file("kernel.ll")).arg(file("library.ll")).arg("-o").arg(file("linked.ll")))?;
        let kept = format!("-internalize-public-api-list={},{LAUNCH}", kernels.join(","));
        let mut opt = Command::new(&self.opt);
        opt.args([PASSES, &kept, "-S"]);
        output(opt.arg(file("linked.ll")).arg("-o").arg(file("final.ll")))?;
        let mut llc = Command::new(&self.llc);
        // The version of PTX that has what the library's assembly uses, on every GPU that runs it.
        llc.args(["-march=nvptx64", &format!("-mcpu={cpu}"), "-mattr=+ptx63"]);
        output(llc.arg(file("final.ll")).arg("-o").arg(file("kernel.ptx")))?;
        let text = std::fs::read_to_string(file("kernel.ptx"))?;
        if let Some(name) = unresolved(&text) {
            bail!("calls {name}, for which there is nothing on this GPU");
        }
        if let Some(ptxas) = &self.ptxas {
            let mut assemble = Command::new(ptxas);
            output(assemble.arg(format!("-arch={cpu}")).arg(file("kernel.ptx")).arg("-o").arg(file("kernel.cubin")))?;
        }
        Ok(Ptx { text, kernels, assembled: self.ptxas.is_some() })
    }
}

/// Runs a program and returns what it wrote to standard output.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().with_context(|| format!("cannot run {name}"))?;
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
        let first = text.lines().find(|l| l.to_lowercase().contains("error") || l.contains("fatal")).unwrap_or_default();
        bail!("{name} failed ({}): {}", out.status, first.trim());
    }
    Ok(String::from_utf8(out.stdout)?)
}

/// Names of the kernels of IR that is for the GPU.
fn kernels(ir: &str) -> Vec<String> {
    let heads = ir.lines().filter(|l| l.starts_with("define ") && l.contains("ptx_kernel"));
    heads.filter_map(|l| l.split_once('@')?.1.split_once('(').map(|(name, _)| name.to_string())).collect()
}

/// The first function that PTX calls and does not have.
fn unresolved(ptx: &str) -> Option<&str> {
    let head = ptx.lines().find(|l| l.starts_with(".extern .func"))?;
    head.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).rfind(|w| w.starts_with('_') || w.starts_with("heddle"))
}

/// IR of Heddle as the GPU's back end takes it:
///
/// - kernels have its calling convention;
/// - constants are in global memory, because the GPU's constant memory is small and no buffer can be in it;
/// - loads and stores in the one total order stand between fences, because the back end has none;
/// - work-group memory that is an argument is an offset in memory whose size the launch says.
///
/// # Errors
/// A kernel's head is not of the form that Heddle prints.
pub fn for_gpu(ir: &str) -> Result<String> {
    let ir = ir.replace("spir_kernel", "ptx_kernel").replace("addrspace(4)", "addrspace(1)");
    let (mut out, mut offsets, mut dynamic, mut fences) = (String::new(), Vec::new(), false, false);
    for line in ir.lines() {
        let atomic = line.contains(" seq_cst,") && (line.contains("store atomic") || line.contains("= load atomic"));
        if line.starts_with("define ") && line.contains("ptx_kernel") && line.contains("ptr addrspace(3)") {
            let (head, names) = local_arguments(line)?;
            out += &head;
            offsets = names;
            dynamic = true;
        } else if atomic {
            fences = true;
            out += FENCE;
            out.push('\n');
            out += &line.replace(" seq_cst,", " monotonic,");
            out.push('\n');
            out += FENCE;
        } else {
            out += line;
        }
        out.push('\n');
        // The first block's label.
        if line.ends_with(':') || line.contains(": ") && line.contains("; preds") {
            for name in offsets.drain(..) {
                out += &format!("  {name} = getelementptr i8, ptr addrspace(3) {DYNAMIC}, i64 {name}.offset\n");
            }
        }
    }
    ensure!(offsets.is_empty(), "a kernel's first block has no label");
    if fences {
        out += "\ndeclare void @llvm.nvvm.membar.sys()\n";
    }
    if dynamic {
        out += &format!("\n{DYNAMIC} = external addrspace(3) global [0 x i8], align 16\n");
    }
    Ok(out)
}

/// A kernel's head with offsets in place of its pointers to work-group memory, and the names of these.
fn local_arguments(line: &str) -> Result<(String, Vec<String>)> {
    const POINTER: &str = "ptr addrspace(3) ";
    let (mut out, mut names, mut rest) = (String::new(), Vec::new(), line);
    while let Some((before, after)) = rest.split_once(POINTER) {
        out += before;
        let start = after.find('%').context("an argument has no name")?;
        let end = after[start..].find([',', ')']).context("a kernel's head has no end")? + start;
        let name = &after[start..end];
        out += &format!("i64 noundef {name}.offset");
        names.push(name.to_string());
        rest = &after[end..];
    }
    ensure!(!names.is_empty(), "an argument has no name");
    Ok((out + rest, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_gets_the_gpu_s_form() {
        let ir =
            "define dso_local spir_kernel void @k(ptr addrspace(4) noundef %c, i32 noundef %n) #0 {\nentry:\n  ret void\n}\n";
        let wanted =
            "define dso_local ptx_kernel void @k(ptr addrspace(1) noundef %c, i32 noundef %n) #0 {\nentry:\n  ret void\n}\n";
        assert_eq!(for_gpu(ir).unwrap(), wanted);
        assert_eq!(kernels(wanted), ["k"]);
    }

    #[test]
    fn work_group_memory_is_an_offset() {
        let ir = "define spir_kernel void @k(ptr addrspace(3) noundef align 4 %s, i32 %n, ptr addrspace(3) %t) {\nentry:\n  ret void\n}\n";
        let out = for_gpu(ir).unwrap();
        assert!(out.starts_with("define ptx_kernel void @k(i64 noundef %s.offset, i32 %n, i64 noundef %t.offset) {\nentry:\n"));
        assert!(out.contains("  %s = getelementptr i8, ptr addrspace(3) @heddle_dynamic, i64 %s.offset\n"));
        assert!(out.contains("  %t = getelementptr i8, ptr addrspace(3) @heddle_dynamic, i64 %t.offset\n  ret void"));
        assert!(out.ends_with("@heddle_dynamic = external addrspace(3) global [0 x i8], align 16\n"));
        assert!(for_gpu("define spir_kernel void @k(ptr addrspace(3)) {\n  ret void\n}\n").is_err());
    }

    #[test]
    fn the_total_order_is_made_of_fences() {
        let out = for_gpu("  store atomic volatile i32 0, ptr addrspace(3) @x seq_cst, align 4\n").unwrap();
        let store = "  store atomic volatile i32 0, ptr addrspace(3) @x monotonic, align 4\n";
        assert_eq!(out, format!("{FENCE}\n{store}{FENCE}\n\ndeclare void @llvm.nvvm.membar.sys()\n"));
        let rmw = "  %o = atomicrmw add ptr addrspace(1) %p, i32 1 seq_cst, align 4\n";
        assert_eq!(for_gpu(rmw).unwrap(), rmw);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let ptx = ".version 6.3\n.extern .func  (.param .align 16 .b8 func_retval0[16]) _Z11read_imagefx\n(\n";
        assert_eq!(unresolved(ptx), Some("_Z11read_imagefx"));
        assert_eq!(unresolved(".version 6.3\n.visible .entry k(\n"), None);
    }

    /// The whole way, for kernels of every kind; assembled where there is an assembler. Without Heddle's
    /// binary in release mode there is no IR.
    #[test]
    fn kernels_become_ptx() {
        let heddle = shell::release().join("heddle");
        let Ok(tools) = Tools::find(heddle.clone(), 70) else { return };
        if !heddle.is_file() {
            return;
        }
        for (name, kernel) in [("dot_f64", "dot_product"), ("group_functions", "reductions"), ("warp_aggregated", "filter")] {
            let ptx = tools.make(&shell::root().join(format!("test-kernels/{name}/kernel.cl")), &[]).unwrap();
            assert!(ptx.text.contains(&format!(".entry {}(", ptx.kernels[0])), "{name} has no {kernel}");
            assert_eq!(ptx.assembled, tools.ptxas.is_some(), "{name}");
        }
        let images = tools.make(&shell::root().join("test-kernels/images/kernel.cl"), &[]).unwrap_err().to_string();
        assert!(images.contains("read_image") || images.contains("image"), "{images}");
    }
}
