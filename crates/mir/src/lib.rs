//! Machine IR: functions of basic blocks of [`Inst`]s over virtual registers.
//!
//! Before phi lowering a function is in SSA form: each virtual register has one definition, `phi`s stand
//! first in their block. After it, virtual registers may be written several times. After allocation every
//! operand is physical. [`Function::form`] says which; the verifier checks accordingly.
//!
//! May touch: [`heddle_isa`], [`heddle_target`]. Knows nothing of LLVM.

pub mod cfg;
pub mod liveness;
pub mod parse;
pub mod print;
pub mod variables;
pub mod verify;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use serde::{Deserialize, Serialize};

use heddle_isa::surface::Surface;
pub use heddle_isa::{Bank, Block, RegClass};
use heddle_isa::{Inst, VReg};
use heddle_object::metadata::{KernelArgument, Literals, Redzone, Variable, WorkingSet};
use heddle_object::printf::PrintfFormat;

/// The form of a function: how far it has been lowered. In the text of MIR it is the word after `stage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// SSA over virtual registers, with pseudo operations.
    Ssa,
    /// Virtual registers without phis and tuples; several definitions each.
    Lowered,
    /// Physical registers only.
    Allocated,
}

/// A block's contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockData {
    /// Instructions; the last is a terminator, or control falls through to the next block of the layout.
    pub insts: Vec<Inst>,
    /// Estimated executions per execution of the function (loop depth, branch probabilities); at least 0. 1
    /// if unknown.
    pub frequency: f32,
}

/// A machine function: one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Kernel name.
    pub name: String,
    /// How far it has been lowered.
    pub form: Form,
    /// Blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// Order of the blocks in memory; the first is the entry. Blocks not in the layout are deleted.
    pub layout: Vec<Block>,
    /// Classes of the virtual registers.
    pub vregs: PrimaryMap<VReg, RegClass>,
    /// Vector registers that live in a cluster's local file; all others in the main file.
    pub local: SecondaryMap<VReg, Option<u8>>,
    /// Source files that instructions' [`heddle_isa::SourceLoc`]s name.
    pub files: Vec<String>,
    /// Kernel arguments with their place in the constant bank.
    pub args: Vec<KernelArgument>,
    /// Bytes of statically allocated work-group memory.
    pub local_bytes: u32,
    /// Bytes of private memory a work-item, spill slots included.
    pub private_bytes: u32,
    /// `reqd_work_group_size`, if given.
    pub required_work_group: Option<[u32; 3]>,
    /// `work_group_size_hint`, if given.
    pub work_group_hint: Option<[u32; 3]>,
    /// `vec_type_hint`, if given, as OpenCL C spells the type.
    pub vector_hint: Option<String>,
    /// `intel_reqd_sub_group_size`, if given.
    pub required_sub_group: Option<u32>,
    /// All work-groups of a range have the same size, the last one included: the code rests on it, or the
    /// language allows no others.
    pub whole_work_groups: bool,
    /// The code rests on global ids, sizes and offsets below 2³¹ in each dimension.
    pub short_ids: bool,
    /// Accesses of 8 or 16 bytes of device memory may begin at any word.
    pub unaligned_vectors: bool,
    /// The code rests on every warp lying in one row of its work-group: a launch of that kind takes it in place
    /// of the function of the same name that rests on nothing.
    pub rows_fill_warps: bool,
    /// Loads go through the uniform L1 to leave the data L1 to others: a launch whose data has room there does without.
    pub relieves_data_l1: bool,
    /// Uniform loads stand in lanes where the scalar unit has too much to do: those that write lanes are not marked.
    pub loads_in_lanes: bool,
    /// Bytes of work-group and private memory that nothing may access (checking mode).
    pub redzones: Vec<Redzone>,
    /// First shared main register (F of REN-1); `None` without renaming.
    pub fixed_registers: Option<u32>,
    /// Shared registers that a warp needs at once at most (REN-8).
    pub shared_demand: u32,
    /// Shared registers a warp holds at most for most of its time, by prediction: what residency reckons with.
    pub shared_typical: u32,
    /// What a work-group wants the L1s to keep in the loop that needs most of them (K7).
    pub working_sets: Vec<WorkingSet>,
    /// Surfaces that accesses in mode `surface` name by number (G7).
    pub surfaces: Vec<Surface>,
    /// Constants that operands name in the constant bank, behind the arguments.
    pub literals: Literals,
    /// Variables of the source, if they are to be known. No text has them, and no code depends on them.
    pub variables: Option<Box<variables::Bindings>>,
}

impl Function {
    /// An empty function in SSA form.
    pub fn new(name: impl Into<String>) -> Self {
        Function {
            name: name.into(),
            form: Form::Ssa,
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            vregs: PrimaryMap::new(),
            local: SecondaryMap::new(),
            files: Vec::new(),
            args: Vec::new(),
            local_bytes: 0,
            private_bytes: 0,
            required_work_group: None,
            work_group_hint: None,
            vector_hint: None,
            required_sub_group: None,
            whole_work_groups: false,
            short_ids: false,
            unaligned_vectors: false,
            rows_fill_warps: false,
            relieves_data_l1: false,
            loads_in_lanes: false,
            redzones: Vec::new(),
            fixed_registers: None,
            shared_demand: 0,
            shared_typical: 0,
            working_sets: Vec::new(),
            surfaces: Vec::new(),
            literals: Literals::default(),
            variables: None,
        }
    }

    /// Adds a block at the end of the layout.
    pub fn add_block(&mut self) -> Block {
        let block = self.blocks.push(BlockData { insts: Vec::new(), frequency: 1.0 });
        self.layout.push(block);
        block
    }

    /// Adds a virtual register.
    pub fn add_vreg(&mut self, class: RegClass) -> VReg {
        self.vregs.push(class)
    }

    /// The entry block.
    ///
    /// # Panics
    /// If the function has no block.
    pub fn entry(&self) -> Block {
        self.layout[0]
    }
}

/// The functions of one compilation and what they share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Kernels.
    pub functions: Vec<Function>,
    /// Initialised read-only data and program-scope variables, placed in device memory by the loader. Their
    /// addresses are reached through two words of the constant bank (see [`heddle_object::metadata`]).
    pub data: DataSection,
    /// Formats of `printf`, by number.
    pub printf: Vec<PrintfFormat>,
}

/// Program-scope data of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataSection {
    /// Initial contents.
    pub bytes: Vec<u8>,
    /// Alignment of the start, in bytes.
    pub align: u32,
    /// 64-bit places inside `bytes` that hold an offset into `bytes` and must be turned into addresses by the
    /// loader.
    pub relocations: Vec<u32>,
    /// The variables, by address, if nothing may access the bytes between them.
    pub variables: Vec<Variable>,
}
