//! From sources to one module in the form that selection expects.
//!
//! Several inputs are linked in process; then every function is inlined into the kernels and loops are put
//! into LCSSA form, which instruction selection relies on (S4).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use heddle_llvm_passes::ir::{self, Value};
use heddle_llvm_passes::{Facts, PassError};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;

use crate::error::llvm;
use crate::{FrontendError, FrontendOptions, OptLevel, clang};

/// Compiles and links inputs (`.cl`, `.ll`, `.bc`; by extension, anything else is taken as OpenCL C) into one
/// module in which everything is inlined into the kernels and loops are in LCSSA form. `checked`: see
/// [`heddle_llvm_passes::uninitialised`].
///
/// # Errors
/// See [`FrontendError`]; clang's own diagnostics have already been written to standard error.
pub fn compile_to_module<'ctx>(
    context: &'ctx Context,
    inputs: &[PathBuf],
    options: &FrontendOptions,
    checked: bool,
    facts: Facts,
) -> Result<Module<'ctx>, FrontendError> {
    let mut program = Program::default();
    for input in inputs {
        program.add(load(context, input, options, checked)?, input)?;
    }
    let module = program
        .module
        .ok_or_else(|| FrontendError::Input { input: "no input".into(), reason: "give at least one source".into() })?;
    mark(&module)?;
    let module = if checked { optimise_checked(context, module, options)? } else { module };
    // For messages without a line.
    let all: Vec<String> = inputs.iter().map(|i| i.display().to_string()).collect();
    module.set_name(&all.join(", "));
    prepare(&module, options, facts)?;
    Ok(module)
}

/// Inputs that have been linked.
#[derive(Default)]
struct Program<'ctx, 'a> {
    module: Option<Module<'ctx>>,
    /// The functions that other inputs see, and where they are defined.
    defined: Vec<(String, &'a Path)>,
}

impl<'ctx, 'a> Program<'ctx, 'a> {
    /// Links an input.
    fn add(&mut self, module: Module<'ctx>, input: &'a Path) -> Result<(), FrontendError> {
        let visible = |f: &FunctionValue| f.count_basic_blocks() > 0 && f.get_linkage() == Linkage::External;
        for f in module.get_functions().filter(visible) {
            self.define(f, input)?;
        }
        match &self.module {
            None => self.module = Some(module),
            Some(first) => first
                .link_in_module(module)
                .map_err(|e| FrontendError::Llvm { what: format!("linking {}", input.display()), reason: e.to_string() })?,
        }
        Ok(())
    }

    /// Notes a function that other inputs see. Each source has its own of an inline function, which at -O0
    /// nothing but its place tells: it stays apart.
    fn define(&mut self, f: FunctionValue<'ctx>, input: &'a Path) -> Result<(), FrontendError> {
        let name = f.get_name().to_string_lossy().into_owned();
        let first = self.module.as_ref().and_then(|m| m.get_function(&name));
        if let Some((first, (_, earlier))) = first.zip(self.defined.iter().find(|(n, _)| *n == name)) {
            let place = |f: FunctionValue| Value::of(f).definition_place();
            let of_one_header = || place(f).is_some_and(|p| place(first) == Some(p));
            if is_inline(f) || !ir::is_kernel(Value::of(f)) && of_one_header() {
                f.set_linkage(Linkage::Internal);
                return Ok(());
            } else if is_inline(first) {
                first.set_linkage(Linkage::Internal);
            } else {
                let reason = format!("`{name}` is defined in {} already", earlier.display());
                return Err(FrontendError::Input { input: input.display().to_string(), reason });
            }
        }
        self.defined.push((name, input));
        Ok(())
    }
}

/// Whether a function was declared `inline` (known where clang optimises).
fn is_inline(function: FunctionValue) -> bool {
    function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("inlinehint")).is_some()
}

/// Reads an input, or compiles it.
fn load<'ctx>(
    context: &'ctx Context,
    input: &Path,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Module<'ctx>, FrontendError> {
    let name = input.display().to_string();
    if !input.is_file() {
        return Err(FrontendError::Input {
            input: name,
            reason: "no such file; a source (.cl, .ll, .bc) is expected there".into(),
        });
    }
    let bitcode = match input.extension().and_then(OsStr::to_str) {
        Some("ll" | "bc") => MemoryBuffer::create_from_file(input).map_err(|e| llvm(&name, &e.to_string()))?,
        _ => {
            let output = clang::run_clang(input, options, checked)?;
            MemoryBuffer::create_from_memory_range_copy(&output, &name)
        }
    };
    let module = context.create_module_from_ir(bitcode).map_err(|e| {
        let text = e.to_string();
        if text.starts_with(&format!("{name}:")) { FrontendError::Parse(text.trim_end().into()) } else { llvm(&name, &text) }
    })?;
    // What clang wrote is valid; what a user wrote may parse without being so.
    module.verify().map_err(|e| llvm(&name, &e.to_string()))?;
    Ok(module)
}

/// Marks everything but kernels to be inlined.
fn mark(module: &Module) -> Result<(), FrontendError> {
    let context = module.get_context();
    let always = context.create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
    let drop: Vec<u32> = ["noinline", "optnone"].iter().map(|n| Attribute::get_named_enum_kind_id(n)).collect();
    let mut any_kernel = false;
    for function in module.get_functions() {
        if function.count_basic_blocks() == 0 {
            continue;
        }
        for kind in &drop {
            function.remove_enum_attribute(AttributeLoc::Function, *kind);
        }
        if ir::is_kernel(Value::of(function)) {
            any_kernel = true;
            // A kernel that other kernels call is a function there.
            if Value::of(function).users().any(|u| u.is_instruction()) {
                function.add_attribute(AttributeLoc::Function, always);
            }
        } else {
            function.add_attribute(AttributeLoc::Function, always);
            function.set_linkage(Linkage::Internal);
        }
    }
    if !any_kernel {
        let what = module.get_name().to_string_lossy().into_owned();
        return Err(FrontendError::Input { input: what, reason: "no kernel function (mark one with __kernel)".into() });
    }
    Ok(())
}

/// Optimises a module of which clang has run no pass yet, for checking mode: what LLVM would remove as
/// undefined is kept first, then clang runs its pipeline.
fn optimise_checked<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
    options: &FrontendOptions,
) -> Result<Module<'ctx>, FrontendError> {
    heddle_llvm_passes::uninitialised::keep(&module)
        .map_err(|e| FrontendError::Llvm { what: "preparing the module".into(), reason: e.to_string() })?;
    if options.opt == OptLevel::O0 {
        return Ok(module);
    }
    let name = module.get_name().to_string_lossy().into_owned();
    let optimised = clang::optimise(module.write_bitcode_to_memory().as_slice(), &name, options)?;
    let bitcode = MemoryBuffer::create_from_memory_range_copy(&optimised, &name);
    context.create_module_from_ir(bitcode).map_err(|e| llvm(&name, &e.to_string()))
}

/// Inlines everything into the kernels, drops what nothing uses and puts loops into LCSSA form.
fn prepare(module: &Module, options: &FrontendOptions, facts: Facts) -> Result<(), FrontendError> {
    heddle_llvm_passes::prepare::prepare(module, facts, options.opt == OptLevel::O0).map_err(|e| match e {
        PassError::Printf(_) => FrontendError::Unsupported(e.to_string()),
        e => FrontendError::Llvm { what: "preparing the module".into(), reason: e.to_string() },
    })
}
