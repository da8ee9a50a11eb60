//! From sources to one module in the form that selection expects.
//!
//! Several inputs are linked in process; then every function is inlined into the kernels and loops are put
//! into LCSSA form, which instruction selection relies on (S4).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use heddle_llvm_passes::ir::{self, Value, diagnostics, link};
use heddle_llvm_passes::prepare::{self, Optimisation};
use heddle_llvm_passes::{Facts, cuda_kernels, math_intrinsics, spir};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;

use crate::error::{llvm, pass};
use crate::library::Part;
use crate::spirv::{self, Binary, SpecConstant};
use crate::{FrontendError, FrontendOptions, Language, OptLevel, clang, compile, passes, translate, whole};

/// Compiles and links inputs (`.cl`, `.clcpp`, `.cu`, `.hip`, `.spv`, `.spvasm`, `.ll`, `.bc`; by extension, anything else is taken as OpenCL C) into one
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
    let each = FrontendOptions { whole_program: inputs.len() == 1, ..options.clone() };
    for (input, binary) in inputs.iter().zip(binaries(inputs, options)?) {
        program.add(load(context, input, binary, &each, checked)?, &input.display().to_string())?;
    }
    let module = program.linked()?;
    let all: Vec<String> = inputs.iter().map(|i| i.display().to_string()).collect();
    let name = all.join(", ");
    let module = call_library(context, module, &name, options, checked)?;
    if !mark(&module) {
        let reason = match inputs.iter().any(|i| Language::of(i).is_cuda_like()) {
            true => "no kernel function (mark one with __global__; an instance of a template is named, as in 'scale<float>')",
            false => "no kernel function (mark one with __kernel)",
        };
        let input = module.get_name().to_string_lossy().into_owned();
        return Err(FrontendError::Input { input, reason: reason.into() });
    }
    finish(context, module, &name, options, checked, facts)
}

/// Compiled source: what [`crate::source::compile_source`] or [`link_to_bitcode`] made.
#[derive(Clone, Copy, Debug)]
pub struct Bitcode<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// LLVM bitcode.
    pub bytes: &'a [u8],
}

/// Links compiled sources into one module as [`compile_to_module`] leaves it; it may have no kernel.
///
/// # Errors
/// [`FrontendError::Input`] or [`FrontendError::Llvm`] for parts that do not fit together or are no bitcode,
/// [`FrontendError::Unsupported`], and what [`compile_to_module`] may find.
pub fn link_to_module<'ctx>(
    context: &'ctx Context,
    parts: &[Bitcode],
    options: &FrontendOptions,
    checked: bool,
    facts: Facts,
) -> Result<Module<'ctx>, FrontendError> {
    let all: Vec<&str> = parts.iter().map(|p| p.name).collect();
    let name = all.join(", ");
    let module = call_library(context, link_parts(context, parts)?, &name, options, checked)?;
    mark(&module);
    finish(context, module, &name, options, checked, facts)
}

/// Links compiled sources into bitcode that can be linked with more.
///
/// # Errors
/// As [`link_to_module`].
pub fn link_to_bitcode(parts: &[Bitcode]) -> Result<Vec<u8>, FrontendError> {
    let context = Context::create();
    let module = link_parts(&context, parts)?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

/// Runs clang's passes on a compiled source by itself.
///
/// # Errors
/// What keeps clang from ending well.
pub fn run_passes(part: Bitcode, options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    passes::optimise(part.bytes, part.name, options)
}

/// Links compiled sources of which clang's passes have not run on some, as a whole: they run on what kernels reach.
///
/// # Errors
/// Those of [`link_to_bitcode`], and what keeps clang from ending well.
pub fn link_whole(parts: &[Bitcode], options: &FrontendOptions) -> Result<Vec<u8>, FrontendError> {
    let names: Vec<&str> = parts.iter().map(|p| p.name).collect();
    let name = names.join(", ");
    passes::optimise(&whole::reachable(&link_to_bitcode(parts)?, &name)?, &name, options)
}

fn link_parts<'ctx>(context: &'ctx Context, parts: &[Bitcode]) -> Result<Module<'ctx>, FrontendError> {
    let mut program = Program::default();
    for part in parts {
        let buffer = MemoryBuffer::create_from_memory_range_copy(part.bytes, part.name);
        program.add(read(context, buffer, part.name)?, part.name)?;
    }
    program.linked()
}

/// What follows on linking; `name` is for messages without a line.
fn finish<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
    name: &str,
    options: &FrontendOptions,
    checked: bool,
    facts: Facts,
) -> Result<Module<'ctx>, FrontendError> {
    let module = if checked { optimise_checked(context, module, options)? } else { module };
    module.set_name(name);
    prepare(&module, options, facts)?;
    Ok(module)
}

/// Inputs that have been linked.
#[derive(Default)]
struct Program<'ctx> {
    module: Option<Module<'ctx>>,
    /// The functions that other inputs see, and where they are defined.
    defined: Vec<(String, String)>,
}

impl<'ctx> Program<'ctx> {
    /// All inputs in one module.
    fn linked(self) -> Result<Module<'ctx>, FrontendError> {
        self.module.ok_or_else(|| FrontendError::Input { input: "no input".into(), reason: "give at least one source".into() })
    }

    /// Links an input.
    fn add(&mut self, module: Module<'ctx>, input: &str) -> Result<(), FrontendError> {
        let visible = |f: &FunctionValue| f.count_basic_blocks() > 0 && f.get_linkage() == Linkage::External;
        for f in module.get_functions().filter(visible) {
            self.define(f, input)?;
        }
        match &self.module {
            None => {
                diagnostics::be_quiet(&module);
                self.module = Some(module);
            }
            Some(first) => link::link(first, module).map_err(|e| llvm(&format!("linking {input}"), &e))?,
        }
        Ok(())
    }

    /// Notes a function that other inputs see. Each source has its own of an inline function, which at -O0
    /// nothing but its place tells: it stays apart.
    fn define(&mut self, f: FunctionValue<'ctx>, input: &str) -> Result<(), FrontendError> {
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
                let reason = format!("`{name}` is defined in {earlier} already");
                return Err(FrontendError::Input { input: input.into(), reason });
            }
        }
        self.defined.push((name, input.into()));
        Ok(())
    }
}

/// Whether a function was declared `inline` (known where clang optimises).
fn is_inline(function: FunctionValue) -> bool {
    function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("inlinehint")).is_some()
}

/// Those of the inputs that are SPIR-V, with the values for specialisation constants, each of which one of them must have.
fn binaries(inputs: &[PathBuf], options: &FrontendOptions) -> Result<Vec<Option<Binary>>, FrontendError> {
    let wrong = |input: &PathBuf, reason: String| FrontendError::Input { input: input.display().to_string(), reason };
    let mut binaries = Vec::new();
    for input in inputs {
        if !input.is_file() {
            let reason = "no such file; a source (.cl, .clcpp, .cu, .hip, .spv, .spvasm, .ll, .bc) is expected there";
            return Err(wrong(input, reason.into()));
        }
        let language = Language::of(input);
        binaries.push(match language.is_spirv() {
            true => {
                let bytes = std::fs::read(input).map_err(|e| wrong(input, e.to_string()))?;
                Some(translate::binary(&input.display().to_string(), &bytes, language, options)?)
            }
            false => None,
        });
    }
    let values = &options.spec_constants;
    let constants: Vec<SpecConstant> = binaries.iter().flatten().flat_map(|b| b.constants().iter().cloned()).collect();
    if let Some((id, _)) = values.iter().find(|(id, _)| !constants.iter().any(|c| c.id == *id)) {
        let first = inputs.iter().zip(&binaries).find(|(_, b)| b.is_some()).map(|(input, _)| input);
        return Err(match first.or(inputs.first()) {
            Some(input) if first.is_some() => wrong(input, spirv::unknown(*id, &constants)),
            Some(input) => wrong(input, not_spirv(*id)),
            None => FrontendError::Option(not_spirv(*id)),
        });
    }
    for (input, binary) in inputs.iter().zip(&mut binaries) {
        if let Some(binary) = binary {
            let own = |id: u32| binary.constants().iter().any(|c| c.id == id);
            let own: Vec<_> = values.iter().filter(|(id, _)| own(*id)).cloned().collect();
            binary.specialise(&own).map_err(|reason| wrong(input, reason))?;
        }
    }
    Ok(binaries)
}

/// What to say of a specialisation constant where nothing is SPIR-V.
pub(crate) fn not_spirv(id: u32) -> String {
    format!("--spec {id}=…: only SPIR-V (.spv, .spvasm) has specialisation constants")
}

/// Reads an input, or compiles it; `binary`: what it holds, if it is SPIR-V.
fn load<'ctx>(
    context: &'ctx Context,
    input: &Path,
    binary: Option<Binary>,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Module<'ctx>, FrontendError> {
    let name = input.display().to_string();
    let language = Language::of(input);
    if let Some((variable, _)) = options.variables.first().filter(|_| !language.is_cuda_like()) {
        let reason = format!("variables.{variable}: only variables of CUDA and HIP (.cu, .hip) get values from outside");
        return Err(FrontendError::Input { input: name, reason });
    }
    if let Some(binary) = binary {
        return load_spirv(context, &name, &binary, options, checked);
    }
    match input.extension().and_then(OsStr::to_str) {
        Some("ll" | "bc") => {
            let buffer = MemoryBuffer::create_from_file(input).map_err(|e| llvm(&name, &e.to_string()))?;
            complete(context, read(context, buffer, &name)?, &name, options, checked)
        }
        _ => {
            let output = compile::run_clang(input, options, checked)?;
            read(context, MemoryBuffer::create_from_memory_range_copy(&output, &name), &name)
        }
    }
}

/// Compiles SPIR-V to bitcode as clang leaves it for a source.
pub(crate) fn compile_spirv(
    name: &str,
    bytes: &[u8],
    options: &FrontendOptions,
    checked: bool,
) -> Result<Vec<u8>, FrontendError> {
    let context = Context::create();
    let mut binary = translate::binary(name, bytes, Language::of(Path::new(name)), options)?;
    let wrong = |reason: String| FrontendError::Input { input: name.into(), reason };
    binary.specialise(&options.spec_constants).map_err(wrong)?;
    let module = load_spirv(&context, name, &binary, options, checked)?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

/// The same as a module.
fn load_spirv<'ctx>(
    context: &'ctx Context,
    name: &str,
    binary: &Binary,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Module<'ctx>, FrontendError> {
    let translated = translate::to_bitcode(name, binary, options)?;
    let module = read(context, MemoryBuffer::create_from_memory_range_copy(&translated, name), name)?;
    complete(context, module, name, options, checked)
}

/// Makes IR that others compiled what clang makes of a source: that of SPIR is brought to the target, and what calls the
/// built-in library is linked with it and goes through clang's passes.
fn complete<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
    name: &str,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Module<'ctx>, FrontendError> {
    let is_spir = spir::is_spir(&module);
    let uniform = options.clang_args.iter().any(|a| a == "-cl-uniform-work-group-size");
    let module = if is_spir { spir::import(context, module, uniform).map_err(pass)? } else { module };
    let displaced = math_intrinsics::import(&module);
    let declared: Vec<String> = module
        .get_functions()
        .filter(|f| f.count_basic_blocks() == 0)
        .map(|f| f.get_name().to_string_lossy().into_owned())
        .collect();
    let part = Part::for_symbols(declared.iter().map(String::as_str));
    if part == Part::NOTHING && !is_spir {
        displaced.restore(&module);
        return Ok(module);
    }
    let parse = |bitcode: &[u8]| read(context, MemoryBuffer::create_from_memory_range_copy(bitcode, name), name);
    let module = parse(&clang::link_library(module.write_bitcode_to_memory().as_slice(), name, part, options)?)?;
    displaced.restore(&module);
    if is_spir {
        spir::settle_generic(&module).map_err(pass)?;
    }
    if checked {
        return Ok(module);
    }
    parse(&passes::optimise(module.write_bitcode_to_memory().as_slice(), name, options)?)
}

/// Links the built-in library with intrinsics that are functions of it, as sources have them that name them by `__builtin_`.
fn call_library<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
    name: &str,
    options: &FrontendOptions,
    checked: bool,
) -> Result<Module<'ctx>, FrontendError> {
    if math_intrinsics::is_needed(&module) { complete(context, module, name, options, checked) } else { Ok(module) }
}

/// Reads LLVM IR or bitcode.
fn read<'ctx>(context: &'ctx Context, bitcode: MemoryBuffer, name: &str) -> Result<Module<'ctx>, FrontendError> {
    let module = context.create_module_from_ir(bitcode).map_err(|e| {
        let text = e.to_string();
        if text.starts_with(&format!("{name}:")) { FrontendError::Parse(text.trim_end().into()) } else { llvm(name, &text) }
    })?;
    // What clang wrote is valid; what a user wrote may parse without being so.
    module.verify().map_err(|e| llvm(name, &e.to_string()))?;
    // IR that other compilers made of CUDA or HIP.
    cuda_kernels::import(&module).map_err(pass)?;
    Ok(module)
}

/// Marks everything but kernels to be inlined; whether there is a kernel.
fn mark(module: &Module) -> bool {
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
    any_kernel
}

/// Optimises a module of which clang has run no pass yet, for checking mode: what LLVM would remove as
/// undefined is kept first, then clang runs its pipeline.
fn optimise_checked<'ctx>(
    context: &'ctx Context,
    module: Module<'ctx>,
    options: &FrontendOptions,
) -> Result<Module<'ctx>, FrontendError> {
    heddle_llvm_passes::uninitialised::keep(&module).map_err(pass)?;
    let name = module.get_name().to_string_lossy().into_owned();
    let optimised = passes::optimise(module.write_bitcode_to_memory().as_slice(), &name, options)?;
    let bitcode = MemoryBuffer::create_from_memory_range_copy(&optimised, &name);
    context.create_module_from_ir(bitcode).map_err(|e| llvm(&name, &e.to_string()))
}

/// Inlines everything into the kernels, drops what nothing uses and puts loops into LCSSA form.
fn prepare(module: &Module, options: &FrontendOptions, facts: Facts) -> Result<(), FrontendError> {
    let keeps_loops = options.clang_args.iter().rev().find(|a| ["-funroll-loops", "-fno-unroll-loops"].contains(&a.as_str()));
    let keeps_loops = keeps_loops.is_some_and(|a| a.starts_with("-fno"));
    let optimisation = match options.opt {
        OptLevel::O0 => Optimisation::Little,
        OptLevel::O2 | OptLevel::O3 if !keeps_loops => Optimisation::Full,
        _ => Optimisation::KeepLoops,
    };
    prepare::prepare(module, facts, optimisation).map_err(pass)
}
