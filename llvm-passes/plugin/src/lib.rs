//! Heddle's passes as a plug-in of LLVM's: `opt -load-pass-plugin=libheddle_passes.so
//! -passes=heddle-uniformity` and `clang -fpass-plugin=libheddle_passes.so`.
//!
//! Names, parameters and results are those of [`pipeline`], so that `heddle opt` and `opt` do the
//! same; here the names have the prefix `heddle-`, because LLVM has passes of its own by some of
//! the others. What passes print goes to standard error, as it does with LLVM's printers.
//!
//! `registration.cpp` adds the passes to LLVM's pass manager; it says why that is C++. The two meet
//! in [`HeddlePasses`], a table of functions, and nothing there names a pass. The library shares
//! the host's LLVM (`libLLVM.so`), so it works with exactly the version it was built for, and with
//! hosts that link LLVM dynamically.

#![warn(clippy::undocumented_unsafe_blocks)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use heddle_llvm_passes::pipeline::{self, Effect, Pass};
use heddle_llvm_passes::{Facts, PassError, ir};
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::module::Module;

/// The default machine's (`heddle target`); parameters of a pass say otherwise.
const FACTS: Facts = Facts::OF_DEFAULT_MACHINE;

/// LLVM's `PassPluginLibraryInfo` (llvm/Passes/PassPlugin.h), version 1 of the interface.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(*mut c_void),
}

/// Takes text; the first argument is the caller's.
type Sink = extern "C" fn(*mut c_void, *const c_char, usize);

/// What `registration.cpp` calls; it declares the same.
#[repr(C)]
struct HeddlePasses {
    knows: extern "C" fn(*const c_char, usize) -> bool,
    has_kernel: extern "C" fn(LLVMModuleRef) -> bool,
    annotating: extern "C" fn(Sink, *mut c_void),
    run: extern "C" fn(*const c_char, usize, LLVMModuleRef, Sink, Sink, *mut c_void) -> c_int,
}

static PASSES: HeddlePasses = HeddlePasses { knows, has_kernel, annotating, run };

unsafe extern "C" {
    fn heddle_register_passes(builder: *mut c_void, passes: *const HeddlePasses);
}

/// LLVM's entry point: what the plug-in is called and how it registers its passes.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    PassPluginLibraryInfo {
        api_version: 1,
        name: c"heddle".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register,
    }
}

extern "C" fn register(builder: *mut c_void) {
    // SAFETY: LLVM calls this with its PassBuilder; the table lives as long as the library.
    unsafe { heddle_register_passes(builder, &PASSES) }
}

/// A pipeline's element; LLVM's strings have no end mark.
///
/// # Safety
/// `text` points to `size` bytes that live as long as the result is used.
unsafe fn element<'a>(text: *const c_char, size: usize) -> &'a str {
    if size == 0 {
        return "";
    }
    // SAFETY: the caller's promise. What is no UTF-8 is no name of ours.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(text.cast(), size) }).unwrap_or("")
}

extern "C" fn knows(text: *const c_char, size: usize) -> bool {
    // SAFETY: a StringRef's parts.
    let element = unsafe { element(text, size) };
    // Bad parameters of a pass of ours are reported when it runs.
    (element.starts_with("heddle-") || element.starts_with("print<heddle-"))
        && !matches!(pipeline::find(element, FACTS), Ok(None))
}

extern "C" fn has_kernel(module: LLVMModuleRef) -> bool {
    // SAFETY: LLVM's live module.
    let module = ManuallyDrop::new(unsafe { Module::new(module) });
    ir::function::has_kernel(&module)
}

/// The pipeline of all passes that attach metadata, which clang runs if it is told no other.
extern "C" fn annotating(sink: Sink, context: *mut c_void) {
    let text = pipeline::annotating().map(Pass::prefixed_name).collect::<Vec<_>>().join(",");
    sink(context, text.as_ptr().cast(), text.len());
}

/// Runs a pass. 0 if it failed, 1 if analyses are as good as before, 2 if not.
extern "C" fn run(
    text: *const c_char,
    size: usize,
    module: LLVMModuleRef,
    print: Sink,
    error: Sink,
    context: *mut c_void,
) -> c_int {
    // SAFETY: a StringRef's parts.
    let element = unsafe { element(text, size) };
    let say = |sink: Sink, text: &[u8]| sink(context, text.as_ptr().cast(), text.len());
    // A panic must not unwind into C++.
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: LLVM's live module, which stays LLVM's.
        let module = ManuallyDrop::new(unsafe { Module::new(module) });
        let Some((pass, facts)) = pipeline::find(element, FACTS)? else {
            return Err(PassError::Llvm(format!("unknown pass name '{element}'")));
        };
        let mut printed = Vec::new();
        let done = pass.run(&module, facts, &mut printed);
        say(print, &printed);
        done.map(|()| pass.effect())
    }));
    match result {
        Ok(Ok(Effect::Prints | Effect::Annotates)) => 1,
        Ok(Ok(Effect::Transforms)) => 2,
        Ok(Err(e)) => {
            say(error, e.to_string().as_bytes());
            0
        }
        Err(panic) => {
            let reason = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            let message = format!("{element} failed, which is a defect of Heddle: {}", reason.unwrap_or("unknown reason"));
            say(error, message.as_bytes());
            0
        }
    }
}
