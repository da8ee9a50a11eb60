//! From a program to an object for this host's processor.

use inkwell::OptimizationLevel;
use inkwell::context::{AsContextRef, Context};
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple};

use super::build::Build;
use super::load::NAME;
use super::translate::Translator;
use super::{Sizes, Variant};
use crate::program::Program;

/// What LLVM does with a translation before it selects instructions.
pub(super) const PASSES: &str = "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
                                 loop-mssa(licm),early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

/// How code gets at its constants. On x86-64 by absolute addresses, of 64 bits: LLVM takes them apart from the loads, and keeps
/// what loops need in registers, where with the small model it reads memory in every instruction (mandelbrot: a tenth of the
/// time), and position-independent code gives up a register (6 %).
const ADDRESSES: (RelocMode, CodeModel) = match cfg!(target_arch = "x86_64") {
    true => (RelocMode::Static, CodeModel::Large),
    false => (RelocMode::PIC, CodeModel::Small),
};

/// LLVM for this host.
pub(super) struct Compiler {
    triple: TargetTriple,
    /// The processor's name.
    pub cpu: String,
    /// What it can do.
    pub features: String,
}

impl Compiler {
    /// `None` if LLVM has no target for it.
    pub fn new() -> Option<Compiler> {
        Target::initialize_native(&InitializationConfig::default()).ok()?;
        Some(Compiler {
            triple: TargetMachine::get_default_triple(),
            cpu: TargetMachine::get_host_cpu_name().to_string(),
            features: TargetMachine::get_host_cpu_features().to_string(),
        })
    }

    /// Its name as a target.
    pub fn triple(&self) -> &[u8] {
        self.triple.as_str().to_bytes()
    }

    /// Translates a program and compiles it to an object, which contains nothing of this process: it finds the
    /// interpreter's functions in its frame. `None` if LLVM cannot.
    pub fn compile<const N: usize>(&self, program: &Program, variant: Variant) -> Option<Vec<u8>> {
        let machine = Target::from_triple(&self.triple).ok()?.create_target_machine(
            &self.triple,
            &self.cpu,
            &self.features,
            OptimizationLevel::Default,
            ADDRESSES.0,
            ADDRESSES.1,
        )?;
        let context = Context::create();
        let name = NAME.to_str().ok()?;
        let module = context.create_module(name);
        module.set_triple(&self.triple);
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        let builder = Build::new((&context).as_ctx_ref(), module.as_mut_ptr(), N as u32);
        Translator::translate(builder, program, Sizes::new::<N>(), variant, name, &self.cpu, &self.features);
        module.verify().inspect_err(|e| debug_assert!(false, "{e}")).ok()?;
        module.run_passes(PASSES, &machine, PassBuilderOptions::create()).ok()?;
        let object = machine.write_to_memory_buffer(&module, FileType::Object).ok()?;
        Some(object.as_slice().to_vec())
    }
}
