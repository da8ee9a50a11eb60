//! Instruction selection: LLVM IR to SSA MIR.
//!
//! # Values
//! An LLVM value becomes one operand for each scalar leaf of its type (vectors and aggregates are flattened). Integers of up to 32 bits sit in
//! one register with undefined upper bits (extended at need), up to 64 bits in a pair; `i1` is a predicate, or 0/1 in a scalar register. What
//! the uniformity analysis calls uniform lives in scalar registers and is computed once a warp (S5); the rest is one value a lane.
//!
//! # Addresses
//! See `address.rs`: base + 32-bit offset wherever it is exact (DESIGN §4).
//!
//! # Control
//! Uniform conditions use `bras`, divergent ones `brad` with the immediate post-dominator as reconvergence point. The pass relies on LCSSA form (S4)
//! and leaves phi copies to [`heddle_codegen::lower`].
//!
//! May touch: LLVM (besides the front end the only place), MIR. Unsupported input is a [`Diagnostic`], never a panic or wrong code.

mod address;
mod arguments;
mod arith;
mod cache;
mod calls;
mod casts;
mod constants;
mod control;
mod diagnostics;
mod images;
mod memory;
mod surface;
mod types;
mod wide;

use heddle_llvm_passes::Facts;
use heddle_llvm_passes::cache_hints::{self, Hints};
use heddle_llvm_passes::global_id::{self, GlobalIds, Poly};
use heddle_llvm_passes::ir::{self, BlockRef, Value, function};
use heddle_llvm_passes::printf;
use heddle_llvm_passes::uniformity::{self, Uniformity};
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use diagnostics::{Diagnostic, Remark};
use heddle_isa::{Inst, Op, Operand, SourceLoc, Type, VReg};
use heddle_mir::{Bank, Block, Function, Module, RegClass};
use heddle_object::printf::PrintfFormat;

use address::Address;
use constants::Data;
use types::{Leaf, leaves};

/// Options of selection.
#[derive(Clone, Debug)]
pub struct SelectOptions {
    /// Use scalar registers for uniform values (S5). Off: everything but what the machine needs uniform is one value a lane.
    pub scalarize: bool,
    /// Let the address-generation unit make addresses of global ids (G5, G6).
    pub global_id: bool,
    /// Surface descriptors of the machine, at most 256.
    pub surfaces: u32,
    /// How cache policies are chosen.
    pub cache_hints: CacheHints,
    /// Prefetch far streams in loops.
    pub prefetch: bool,
    /// Leave bytes between variables in work-group and private memory that nothing may access (checking mode).
    pub redzones: bool,
}

/// How loads and stores of global memory get their cache policies, where the program leaves a choice (K7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheHints {
    /// By the reuse that the analysis found.
    #[default]
    Analysis,
    /// All loads `.ca`, all stores `.wb`.
    Ca,
    /// All loads and stores `.cg`.
    Cg,
}

impl Default for SelectOptions {
    fn default() -> Self {
        SelectOptions {
            scalarize: true,
            global_id: true,
            surfaces: 256,
            cache_hints: CacheHints::Analysis,
            prefetch: false,
            redzones: false,
        }
    }
}

/// Selects every kernel of a module that the front end prepared.
///
/// # Errors
/// All constructs found that cannot be compiled.
pub fn select(
    module: &inkwell::module::Module,
    options: &SelectOptions,
    facts: Facts,
    remarks: &mut Vec<Remark>,
) -> Result<Module, Vec<Diagnostic>> {
    let mut result = Module::default();
    let mut errors = Vec::new();
    let mut data = Data::new(module, options.redzones);
    for function in module.get_functions() {
        if function.count_basic_blocks() == 0 {
            continue;
        }
        let value = Value::of(function);
        if !ir::is_kernel(value) {
            errors.push(not_inlined(value));
            continue;
        }
        match Selector::run(value, &mut data, options, facts, remarks) {
            Ok(f) => result.functions.push(f),
            Err(e) => errors.extend(e),
        }
    }
    result.data = data.section;
    result.printf = printf::formats(module).into_iter().map(|f| PrintfFormat::new(&f.text, f.arguments)).collect();
    errors.extend(data.errors);
    if errors.is_empty() { Ok(result) } else { Err(errors) }
}

/// A function that is left after inlining is recursive, or its address is taken.
fn not_inlined(function: Value) -> Diagnostic {
    // A call of itself shows recursion best; else any call.
    let calls: Vec<Value> = function.users().filter(|u| u.is_instruction()).collect();
    // SAFETY: parents of live instructions.
    let inside = |u: &Value| unsafe { LLVMGetBasicBlockParent(u.parent().0) == function.0 };
    let call = calls.iter().copied().find(inside).or(calls.first().copied());
    let (mut file, line, column) = call.map(source_position).unwrap_or_default();
    if line == 0 {
        file = module_name(function);
    }
    let name = function.name();
    Diagnostic {
        message: format!("function `{name}` cannot be inlined: OpenCL C has no recursion and no function pointers"),
        file,
        line,
        column,
    }
}

/// File and line of a function's or variable's definition; the file alone, and line 0, if there is no debug information.
fn definition_position(v: Value) -> (String, u32) {
    // SAFETY: reads the debug information of a live global; the strings are copied.
    unsafe {
        let mut length = 0;
        let p = LLVMGetDebugLocFilename(v.0, &mut length);
        if p.is_null() {
            return (module_name(v), 0);
        }
        let file = String::from_utf8_lossy(std::slice::from_raw_parts(p.cast(), length as usize)).into_owned();
        (file, LLVMGetDebugLocLine(v.0))
    }
}

/// The name of the source of a global's module.
fn module_name(global: Value) -> String {
    // SAFETY: reads the name of a live module; it is copied.
    unsafe {
        let mut length = 0;
        let p = LLVMGetModuleIdentifier(LLVMGetGlobalParent(global.0), &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(p.cast(), length)).into_owned()
    }
}

/// File, line and column of an instruction's debug location; empty and 0 if it has none.
fn source_position(i: Value) -> (String, u32, u32) {
    // SAFETY: reads the debug location of a live instruction; the strings are copied.
    unsafe {
        if LLVMInstructionGetDebugLoc(i.0).is_null() {
            return Default::default();
        }
        let mut length = 0;
        let p = LLVMGetDebugLocFilename(i.0, &mut length);
        let file = if p.is_null() {
            String::new()
        } else {
            String::from_utf8_lossy(std::slice::from_raw_parts(p.cast(), length as usize)).into_owned()
        };
        (file, LLVMGetDebugLocLine(i.0), LLVMGetDebugLocColumn(i.0))
    }
}

/// One operand a leaf.
type Parts = SmallVec<[Operand; 4]>;

/// How the upper bits of a register that holds a narrow integer are known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extension {
    Zero,
    Sign,
}

/// The state of selecting one kernel.
struct Selector<'a> {
    f: Function,
    value: Value,
    uniformity: Uniformity,
    global_ids: GlobalIds,
    hints: Hints,
    cache_hints: CacheHints,
    prefetches: bool,
    redzones: bool,
    most_surfaces: usize,
    warp_size: u32,
    /// Uniform parts of surface accesses, computed on entry and in the current block.
    uniform_on_entry: FxHashMap<Poly, Operand>,
    uniform_here: FxHashMap<Poly, Operand>,
    /// Constant samplers.
    samplers: FxHashMap<Value, Operand>,
    scalarize: bool,
    /// A uniform value that is computed from varying ones, while it is selected.
    in_lanes: Option<Value>,
    data: &'a mut Data,
    errors: Vec<Diagnostic>,
    blocks: FxHashMap<BlockRef, Block>,
    /// MIR blocks that end an edge between LLVM blocks.
    edges: FxHashMap<(BlockRef, BlockRef), SmallVec<[Block; 2]>>,
    current: Block,
    loc: SourceLoc,
    /// The instruction that is being selected.
    at: Option<Value>,
    files: FxHashMap<String, u32>,
    last_file: (usize, u32),
    values: FxHashMap<Value, Parts>,
    /// Low 32 bits of 64-bit integers, where they exist apart from the pair.
    low: FxHashMap<Value, Operand>,
    extended: FxHashMap<Value, Extension>,
    addresses: FxHashMap<Value, Address>,
    roots: FxHashMap<Value, Option<Value>>,
    phis: Vec<control::PendingPhi>,
    /// Constants materialised in the current block, by bits and width in words.
    materialized: FxHashMap<(u64, u8), Operand>,
    /// Constants materialised on entry, for use in loops.
    on_entry: FxHashMap<(u64, u8), Operand>,
    /// The current block is in a loop.
    in_loop: bool,
    /// By-value structure arguments: byte offset in the constant bank, and their copy in private memory if they are written.
    by_value: FxHashMap<Value, address::ByValue>,
    /// Byte offset of each kernel argument in the constant bank.
    arguments: FxHashMap<Value, u32>,
    local_offsets: FxHashMap<Value, u32>,
    /// Byte offset of the hidden argument of `printf`, if the kernel prints.
    printf: u32,
    /// What the variables in private and local memory need, which may be more than an address can reach.
    private_bytes: u64,
    local_bytes: u64,
    reported: FxHashSet<String>,
}

impl<'a> Selector<'a> {
    fn run(
        value: Value,
        data: &'a mut Data,
        options: &SelectOptions,
        facts: Facts,
        remarks: &mut Vec<Remark>,
    ) -> Result<Function, Vec<Diagnostic>> {
        let uniformity = uniformity::analyze(value, facts);
        let global_ids = if options.global_id { global_id::analyze(value, &uniformity) } else { Default::default() };
        let hints = cache_hints::analyze(value, &uniformity);
        let mut s = Selector {
            f: Function::new(value.name()),
            value,
            uniformity,
            global_ids,
            hints,
            cache_hints: options.cache_hints,
            prefetches: options.prefetch,
            redzones: options.redzones,
            most_surfaces: options.surfaces.min(256) as usize,
            warp_size: facts.warp_size,
            uniform_on_entry: FxHashMap::default(),
            uniform_here: FxHashMap::default(),
            samplers: FxHashMap::default(),
            scalarize: options.scalarize,
            in_lanes: None,
            data,
            errors: Vec::new(),
            blocks: FxHashMap::default(),
            edges: FxHashMap::default(),
            current: cranelift_entity::EntityRef::new(0),
            loc: SourceLoc::default(),
            at: None,
            files: FxHashMap::default(),
            last_file: (0, 0),
            values: FxHashMap::default(),
            low: FxHashMap::default(),
            extended: FxHashMap::default(),
            addresses: FxHashMap::default(),
            roots: FxHashMap::default(),
            phis: Vec::new(),
            materialized: FxHashMap::default(),
            on_entry: FxHashMap::default(),
            in_loop: false,
            by_value: FxHashMap::default(),
            arguments: FxHashMap::default(),
            local_offsets: FxHashMap::default(),
            printf: 0,
            private_bytes: 0,
            local_bytes: 0,
            reported: FxHashSet::default(),
        };
        s.f.whole_work_groups = s.uniformity.assumes_whole_groups() || function::uniform_work_groups(value);
        s.f.required_work_group = function::required_work_group_size(value);
        s.declare_arguments();
        s.create_blocks();
        s.reserve_null();
        s.entry_code();
        if !s.check_memory() {
            return Err(s.errors);
        }
        let order = s.uniformity.cfg().rpo.clone();
        // Definitions are met before uses in reverse post-order (phis aside); the layout stays the function's own.
        for b in order {
            let block = s.uniformity.cfg().blocks[b];
            s.select_block(block);
        }
        s.complete_phis();
        s.check_memory();
        remarks.extend(s.remarks());
        if s.errors.is_empty() {
            s.set_reconvergence();
            Ok(s.f)
        } else {
            Err(s.errors)
        }
    }

    /// Reports an error at an instruction (the one that is being selected, if none is given).
    fn error(&mut self, i: Option<Value>, message: impl Into<String>) {
        let mut message = message.into();
        let i = i.or(self.at).filter(|i| i.is_instruction());
        let (mut file, line, column) = i.map(source_position).unwrap_or_default();
        if line == 0 {
            // Without debug locations, the kernel and the instruction say where.
            file = module_name(self.value);
            message = format!("kernel `{}`: {message}", self.f.name);
            if let Some(i) = i {
                let text = i.text();
                let text = text.split(", !dbg").next().unwrap_or_default().trim();
                message = format!("{message}\n  in: {text}");
            }
        }
        self.report(message, file, line, column);
    }

    /// Reports an error about the kernel as a whole.
    fn kernel_error(&mut self, message: String) {
        let (file, line) = definition_position(self.value);
        self.report(message, file, line, 0);
    }

    fn report(&mut self, message: String, file: String, line: u32, column: u32) {
        if self.reported.insert(format!("{message}{line}")) {
            self.errors.push(Diagnostic { message, file, line, column });
        }
    }

    /// Structures passed by value: the attribute's type.
    fn by_value_type(&self, i: u32) -> Option<inkwell::llvm_sys::prelude::LLVMTypeRef> {
        // SAFETY: reads an attribute of a live function.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5);
            let attribute = LLVMGetEnumAttributeAtIndex(self.value.0, i + 1, kind);
            (!attribute.is_null()).then(|| LLVMGetTypeAttributeValue(attribute))
        }
    }

    // ----- uniformity and registers -----

    /// Whether a value is computed on the scalar unit.
    fn is_scalar(&self, v: Value) -> bool {
        self.scalarize && self.in_lanes != Some(v) && self.uniformity.is_uniform(v)
    }

    /// The register class of a leaf of a value.
    fn class(&self, v: Value, leaf: Leaf) -> RegClass {
        leaf.class(if self.is_scalar(v) { Bank::Scalar } else { Bank::Vector })
    }

    /// A new register for a leaf of a value.
    fn new_reg(&mut self, v: Value, leaf: Leaf) -> VReg {
        let class = self.class(v, leaf);
        self.f.add_vreg(class)
    }

    /// The bank of an operand: `None` for immediates, constants and uniform specials (they fit anywhere).
    fn bank(&self, op: Operand) -> Option<Bank> {
        match op {
            Operand::Reg(_) => op.as_virt().map(|(r, _)| self.f.vregs[r].bank),
            Operand::Special(s) if !s.is_uniform() => Some(Bank::Vector),
            _ => None,
        }
    }

    fn is_uniform_operand(&self, op: Operand) -> bool {
        !matches!(self.bank(op), Some(Bank::Vector | Bank::Predicate))
    }

    /// The bank of a result computed from operands: scalar if all are uniform.
    fn joint_bank(&self, ops: &[Operand]) -> Bank {
        if self.scalarize && ops.iter().all(|o| self.is_uniform_operand(*o)) { Bank::Scalar } else { Bank::Vector }
    }

    // ----- emission -----

    /// Appends an instruction after making its operands legal: at most one immediate, conditions and bases in their files.
    fn push(&mut self, mut inst: Inst) {
        inst.loc = self.loc;
        self.legalize(&mut inst);
        self.f.blocks[self.current].insts.push(inst);
    }

    fn legalize(&mut self, inst: &mut Inst) {
        if inst.info().flags.pseudo {
            return;
        }
        let surface = inst.mods.address == heddle_isa::AddressMode::Surface;
        let mut immediate = ((inst.imm != 0 || surface) && inst.op != Op::BraScalar).then_some(None);
        for i in 0..inst.srcs.len() {
            if let Operand::Immediate(v) = inst.srcs[i] {
                let words = inst.src_words(i);
                let fits = match immediate {
                    None => true,
                    Some(Some(w)) => w == v,
                    Some(None) => false,
                };
                let role = inst.src_role(i);
                let f64_value = inst.ty == Type::F64 && words == 2;
                if fits && role != heddle_isa::Role::ScalarCondition && !f64_value {
                    immediate = Some(Some(v));
                } else {
                    let bits = if words == 2 { v as i32 as i64 as u64 } else { u64::from(v) };
                    inst.srcs[i] = self.materialize(bits, words.max(1));
                }
            }
        }
    }

    /// A scalar register that holds a constant of 1 or 2 words: once a block, or on entry for all blocks in loops.
    fn materialize(&mut self, bits: u64, words: u8) -> Operand {
        if self.in_loop {
            if let Some(op) = self.on_entry.get(&(bits, words)) {
                return *op;
            }
            let dst = Operand::virt(self.f.add_vreg(RegClass::scalar(words)));
            self.insert_at_entry(constant_code(dst, bits, words));
            self.on_entry.insert((bits, words), dst);
            return dst;
        }
        if let Some(op) = self.materialized.get(&(bits, words)) {
            return *op;
        }
        let reg = self.f.add_vreg(RegClass::scalar(words));
        let dst = Operand::virt(reg);
        let inst = constant_code(dst, bits, words);
        let mut inst = inst;
        inst.loc = self.loc;
        self.f.blocks[self.current].insts.push(inst);
        self.materialized.insert((bits, words), dst);
        dst
    }

    /// Emits an operation into a new register of a class.
    fn emit(&mut self, op: Op, ty: Type, class: RegClass, srcs: impl IntoIterator<Item = Operand>) -> Operand {
        let dst = Operand::virt(self.f.add_vreg(class));
        self.push(Inst::new(op, ty, dst, srcs));
        dst
    }

    /// Emits an operation whose result is scalar if all sources are uniform; `words` of the result.
    fn emit_joint(&mut self, op: Op, ty: Type, words: u8, srcs: &[Operand]) -> Operand {
        let bank = self.joint_bank(srcs);
        self.emit(op, ty, RegClass { bank, words }, srcs.iter().copied())
    }

    /// A 32-bit operation with folding of the simplest constants.
    fn add32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Immediate(x), Operand::Immediate(y)) => Operand::Immediate(x.wrapping_add(y)),
            (Operand::Immediate(0), x) | (x, Operand::Immediate(0)) => x,
            _ => self.emit_joint(Op::Add, Type::B32, 1, &[a, b]),
        }
    }

    /// `a * scale + b` in 32 bits.
    fn mad32(&mut self, a: Operand, scale: u32, b: Option<Operand>) -> Operand {
        match (a, scale, b) {
            (_, 0, b) => b.unwrap_or(Operand::Immediate(0)),
            (Operand::Immediate(x), _, b) => {
                let product = Operand::Immediate(x.wrapping_mul(scale));
                b.map_or(product, |b| self.add32(b, product))
            }
            (_, 1, None) => a,
            (_, 1, Some(b)) => self.add32(a, b),
            (_, _, None) if scale.is_power_of_two() => {
                self.emit_joint(Op::Shl, Type::B32, 1, &[a, Operand::Immediate(scale.trailing_zeros())])
            }
            (_, _, None) => self.emit_joint(Op::Mul, Type::B32, 1, &[a, Operand::Immediate(scale)]),
            (_, _, Some(b)) => self.emit_joint(Op::Mad, Type::B32, 1, &[a, Operand::Immediate(scale), b]),
        }
    }

    /// A pair of two words.
    fn pair(&mut self, low: Operand, high: Operand) -> Operand {
        let bank = self.joint_bank(&[low, high]);
        self.emit(Op::Tuple, Type::B64, RegClass { bank, words: 2 }, [low, high])
    }

    /// The words of a 64-bit operand.
    fn halves(&mut self, op: Operand) -> (Operand, Operand) {
        match op {
            Operand::Immediate(v) => (op, Operand::Immediate(if (v as i32) < 0 { u32::MAX } else { 0 })),
            Operand::Constant(c) => (op, Operand::Constant(c + 1)),
            Operand::Reg(_) => match op.as_virt() {
                Some((r, w)) => (op, Operand::virt_word(r, w + 1)),
                None => (op, op),
            },
            Operand::None | Operand::Special(_) => (op, Operand::Immediate(0)),
        }
    }

    /// An operand as a scalar register (for conditions and bases); the value is uniform.
    fn to_scalar(&mut self, op: Operand, words: u8) -> Operand {
        match self.bank(op) {
            Some(Bank::Scalar) => op,
            // Uniform, but computed where it lives in lanes: the first active lane has it.
            Some(Bank::Vector) => {
                let ty = if words == 2 { Type::B64 } else { Type::B32 };
                self.emit(Op::First, ty, RegClass::scalar(words), [op])
            }
            Some(Bank::Predicate) => {
                let v = self.emit(Op::Sel, Type::B32, RegClass::vector(1), [op, Operand::Immediate(1), Operand::None]);
                self.emit(Op::First, Type::B32, RegClass::scalar(1), [v])
            }
            None => match op {
                Operand::Immediate(v) => self.materialize(if words == 2 { v as i32 as i64 as u64 } else { u64::from(v) }, words),
                _ => {
                    let ty = if words == 2 { Type::B64 } else { Type::B32 };
                    self.emit(Op::Mov, ty, RegClass::scalar(words), [op])
                }
            },
        }
    }

    /// The operand of a value with one leaf.
    fn operand(&mut self, v: Value) -> Operand {
        self.parts(v).first().copied().unwrap_or(Operand::Immediate(0))
    }

    /// The operands of a value, one a leaf.
    fn parts(&mut self, v: Value) -> Parts {
        if let Some(p) = self.values.get(&v) {
            return p.clone();
        }
        if types::is_pointer(v.ty()) {
            let address = self.address(v);
            let op = self.pointer_bits(&address, v.address_space());
            return smallvec::smallvec![op];
        }
        if v.is_argument() {
            return self.argument_parts(v);
        }
        if v.is_constant() {
            return self.constant_parts(v);
        }
        // Only reachable for values in unreachable blocks or after an error.
        let leaves = leaves(v.ty());
        let mut parts = Parts::new();
        for leaf in leaves.iter() {
            let class = self.class(v, *leaf);
            let ty = class.copy_type();
            let reg = self.f.add_vreg(class);
            let entry = self.f.layout[0];
            self.f.blocks[entry].insts.insert(0, Inst::new(Op::Undef, ty, Operand::virt(reg), []));
            parts.push(Operand::virt(reg));
        }
        self.values.insert(v, parts.clone());
        parts
    }

    /// A by-value argument's leaves: constants of the bank.
    fn argument_parts(&mut self, v: Value) -> Parts {
        let base = self.arguments.get(&v).copied().unwrap_or(0);
        let mut parts = Parts::new();
        let here = std::mem::replace(&mut self.current, self.f.layout[0]);
        for leaf in leaves(v.ty()).iter() {
            let offset = base + leaf.offset;
            let op = if leaf.bits == 1 && !leaf.float {
                let word = self.argument_word(offset, leaf.bytes());
                let class = RegClass { bank: if self.scalarize { Bank::Scalar } else { Bank::Vector }, words: 1 };
                let bit = self.emit_at_entry(Op::And, Type::B32, class, &[word, Operand::Immediate(1)]);
                if self.scalarize {
                    bit
                } else {
                    let p = self.f.add_vreg(RegClass::PREDICATE);
                    let mut cmp = Inst::new(Op::Cmp, Type::B32, Operand::virt(p), [bit, Operand::Immediate(0)]);
                    cmp.mods.cond = Some(heddle_isa::Cond::Ne);
                    self.insert_at_entry(cmp);
                    Operand::virt(p)
                }
            } else {
                self.argument_word(offset, leaf.bytes())
            };
            parts.push(op);
        }
        self.current = here;
        self.values.insert(v, parts.clone());
        parts
    }

    /// A word (or pair) of the constant bank; parts of words are shifted down, in the entry block.
    fn argument_word(&mut self, offset: u32, bytes: u32) -> Operand {
        let word = Operand::Constant((offset / 4) as u8);
        if offset % 4 == 0 || bytes >= 4 {
            return word;
        }
        let bank = if self.scalarize { Bank::Scalar } else { Bank::Vector };
        self.emit_at_entry(Op::Shr, Type::U32, RegClass { bank, words: 1 }, &[word, Operand::Immediate(offset % 4 * 8)])
    }

    /// Emits at the end of the straight-line code that `entry_code` left at the top of the entry block, so that it dominates everything.
    fn emit_at_entry(&mut self, op: Op, ty: Type, class: RegClass, srcs: &[Operand]) -> Operand {
        let dst = Operand::virt(self.f.add_vreg(class));
        self.insert_at_entry(Inst::new(op, ty, dst, srcs.iter().copied()));
        dst
    }

    fn insert_at_entry(&mut self, inst: Inst) {
        let entry = self.f.layout[0];
        let insts = &mut self.f.blocks[entry].insts;
        let at = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        insts.insert(at, inst);
    }

    fn set(&mut self, v: Value, parts: Parts) {
        self.values.insert(v, parts);
    }

    fn set1(&mut self, v: Value, op: Operand) {
        self.values.insert(v, smallvec::smallvec![op]);
    }

    // ----- the walk -----

    fn locate(&mut self, i: Value) {
        self.at = Some(i);
        // SAFETY: reads the debug location of a live instruction.
        unsafe {
            if LLVMInstructionGetDebugLoc(i.0).is_null() {
                return;
            }
            let mut length = 0;
            let name = LLVMGetDebugLocFilename(i.0, &mut length);
            let file = if name as usize == self.last_file.0 {
                self.last_file.1
            } else {
                let text = source_position(i).0;
                let next = self.f.files.len() as u32;
                let id = *self.files.entry(text.clone()).or_insert(next);
                if id == next {
                    self.f.files.push(text);
                }
                self.last_file = (name as usize, id);
                id
            };
            self.loc = SourceLoc { file, line: LLVMGetDebugLocLine(i.0), column: LLVMGetDebugLocColumn(i.0) };
        }
    }

    fn select_block(&mut self, block: BlockRef) {
        use LLVMOpcode::{LLVMAShr, LLVMLShr, LLVMSDiv, LLVMUDiv};
        self.current = self.blocks[&block];
        self.materialized.clear();
        self.uniform_here.clear();
        let cfg = self.uniformity.cfg();
        // The entry block itself may be a loop's header only if it has predecessors, which LLVM forbids.
        self.in_loop = cfg.index.get(&block).is_some_and(|b| cfg.loops.iter().any(|l| l.members.contains(*b)));
        for i in block.instructions() {
            self.locate(i);
            if self.is_scalar(i)
                && matches!(i.opcode(), LLVMLShr | LLVMAShr | LLVMUDiv | LLVMSDiv)
                && !self.uniformity.is_uniform(i.operand(0))
            {
                self.uniform_of_varying(i);
            } else {
                self.instruction(i);
            }
        }
    }

    /// A uniform result of varying operands (a quotient that is the number of the warp): computed in lanes, taken from the first.
    fn uniform_of_varying(&mut self, i: Value) {
        self.in_lanes = Some(i);
        self.instruction(i);
        self.in_lanes = None;
        let leaves = leaves(i.ty());
        let parts = self.parts(i);
        let parts = parts.iter().zip(leaves.iter()).map(|(op, leaf)| self.to_scalar(*op, leaf.words())).collect();
        self.low.remove(&i);
        self.set(i, parts);
    }

    fn instruction(&mut self, i: Value) {
        use LLVMOpcode::*;
        if wide::needed(i) {
            return self.wide_instruction(i);
        }
        match i.opcode() {
            LLVMPHI => self.phi(i),
            LLVMBr | LLVMSwitch | LLVMRet | LLVMUnreachable => self.terminator(i),
            LLVMLoad => self.load(i),
            LLVMStore => self.store(i),
            LLVMAtomicRMW => self.atomic_rmw(i),
            LLVMAtomicCmpXchg => self.compare_exchange(i),
            LLVMFence => self.fence(i),
            // Addresses are folded into their uses; allocas are placed on entry.
            LLVMGetElementPtr | LLVMAlloca => {
                if i.opcode() == LLVMGetElementPtr {
                    self.select_gep(i);
                }
            }
            LLVMCall => self.call(i),
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMAnd | LLVMOr | LLVMXor | LLVMShl
            | LLVMLShr | LLVMAShr => self.integer_binary(i),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFNeg => self.float_arithmetic(i),
            LLVMICmp => self.icmp(i),
            LLVMFCmp => self.fcmp(i),
            LLVMSelect => self.select_instruction(i),
            LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector | LLVMExtractValue | LLVMInsertValue => {
                self.vector_or_aggregate(i);
            }
            LLVMFreeze => {
                if !types::is_pointer(i.ty()) {
                    let parts = self.parts(i.operand(0));
                    self.set(i, parts);
                }
            }
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc | LLVMFPExt
            | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => self.cast(i),
            _ => {
                let text = i.text();
                let text = text.split(", !dbg").next().unwrap_or_default().to_string();
                self.error(Some(i), format!("unsupported construct: `{text}`"));
            }
        }
    }
}

/// Code that puts a constant of 1 or 2 words into a register.
fn constant_code(dst: Operand, bits: u64, words: u8) -> Inst {
    if words == 1 {
        return Inst::new(Op::Mov, Type::B32, dst, [Operand::Immediate(bits as u32)]);
    }
    if bits as i64 == i64::from(bits as u32 as i32) {
        return Inst::new(Op::Mov, Type::B64, dst, [Operand::Immediate(bits as u32)]);
    }
    Inst::new(Op::Tuple, Type::B64, dst, [Operand::Immediate(bits as u32), Operand::Immediate((bits >> 32) as u32)])
}
