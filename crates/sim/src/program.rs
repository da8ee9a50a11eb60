//! Decoded, checked code, ready for the interpreter.
//!
//! Loading checks everything that the machine demands of code, so that execution needs no checks: operand
//! rules, register limits, branch targets, ends of blocks. Then it numbers *rows*: every register, special
//! register, constant word and immediate that the kernel names gets a row of N lanes in the warp's register
//! file, so that all operands are read alike.

use rustc_hash::FxHashMap;

pub use crate::warp::NOWHERE;
use heddle_isa::rules;
use heddle_isa::surface::SurfaceKind;
use heddle_isa::{
    AddressMode, CachePolicy, ImageAccess, Inst, MemorySpace, Op, Operand, PhysReg, Reg, Role, SourceLoc, Space, Special,
    SurfacePlace, Targets, Type,
};
use heddle_object::error::ObjectError;
use heddle_object::metadata::{KernelHeader, ObjectMetadata};
use heddle_object::{INSTRUCTION_BYTES, Image};
use heddle_target::{Machine, limits};

/// Code that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`, instruction {index}: {message}")]
pub struct LoadError {
    /// Kernel.
    pub kernel: String,
    /// Instruction in the kernel, from 0.
    pub index: usize,
    /// What is wrong.
    pub message: String,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Goes on with the next block.
    Fall,
    /// All lanes to a block.
    Jump(u32),
    /// On a scalar condition.
    Scalar {
        /// Row of the condition.
        condition: u16,
        /// Branch if zero.
        if_zero: bool,
        /// Target block.
        target: u32,
    },
    /// Splits the warp.
    Divergent {
        /// Predicate register.
        predicate: u8,
        /// Branch where it is 0.
        negate: bool,
        /// Target block.
        target: u32,
        /// Reconvergence block or [`NOWHERE`].
        reconverge: u32,
    },
    /// Ends the active lanes, those of a guard if there is one.
    Exit,
    /// Undefined behaviour.
    Trap,
    /// Barrier; goes on with the next block when all are there.
    Barrier,
}

/// A straight-line piece of code.
#[derive(Clone, Debug, Hash)]
pub struct BasicBlock {
    /// First instruction.
    pub first: u32,
    /// Instructions before the one that ends the block.
    pub body: u32,
    /// How it ends.
    pub end: End,
}

impl BasicBlock {
    /// Instructions, the end included.
    pub fn len(&self) -> u32 {
        self.body + u32::from(self.end != End::Fall)
    }

    /// Whether the block has no instruction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where the rows of each kind start.
#[derive(Clone, Debug, Default, Hash)]
pub struct Rows {
    /// Main registers.
    pub main: u16,
    /// Local registers of each cluster.
    pub local: Vec<u16>,
    /// Scalar registers.
    pub scalar: u16,
    /// Constant words.
    pub constants: u16,
    /// Constant words that have rows.
    pub constant_words: u16,
    /// Special registers with their rows.
    pub specials: Vec<(Special, u16)>,
    /// Each surface's offsets by the global ids, from this row on.
    pub surfaces: u16,
    /// Contents of immediate rows, from this row on.
    pub immediates: u16,
    /// The immediates.
    pub immediate_values: Vec<u32>,
    /// Rows in all.
    pub total: u16,
}

/// A loaded kernel.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its header.
    pub header: KernelHeader,
    /// Instructions.
    pub insts: Vec<Inst>,
    /// Blocks, in order of the code; block 0 is the entry.
    pub blocks: Vec<BasicBlock>,
    /// Rows.
    pub rows: Rows,
    /// Rows of each instruction: destination, sources.
    pub operands: Vec<[u16; 4]>,
    /// Source files of the instructions' locations.
    pub files: Vec<String>,
    /// Clusters of the machine.
    pub clusters: usize,
    /// Bytes of the code that it was loaded with, other kernels' included: nothing is fetched beyond.
    pub code_bytes: u64,
    /// The code in the host's instructions, once it is worth it.
    pub host: super::jit::Slot,
    /// What has been found of it.
    pub derived: super::derived::Derived,
}

/// Rows 0 to 3 are always zero: absent operands.
pub const ZERO_ROW: u16 = 0;

impl Program {
    /// Decodes, checks and prepares a kernel of an object.
    ///
    /// # Errors
    /// What the machine would not execute.
    pub fn from_image(image: &Image, kernel: usize, machine: &Machine) -> Result<Program, ObjectError> {
        if image.metadata.clusters as usize != machine.clusters.len() {
            return Err(ObjectError(format!(
                "it was compiled for machine `{}` of {} clusters; this one has {}",
                image.metadata.machine,
                image.metadata.clusters,
                machine.clusters.len()
            )));
        }
        let insts = image.decode(kernel)?;
        let header = &image.metadata.kernels[kernel];
        if header.warp_size != machine.warp_size {
            return Err(ObjectError(format!(
                "it was compiled for warps of {} lanes; the machine has {have}: build it with --set warp-size={have}",
                header.warp_size,
                have = machine.warp_size
            )));
        }
        let program = Program::load(insts, header, image.files.clone(), machine).map_err(|e| ObjectError(e.to_string()))?;
        Ok(Program { code_bytes: loaded_bytes(&image.metadata, header), ..program })
    }

    /// The kernel with loads through the data L1 in the place of those through the uniform L1, `ld` for `ldu`: they
    /// read the same, and have the same operands.
    ///
    /// # Errors
    /// As [`Program::load`].
    pub fn without_uniform_loads(&self, machine: &Machine) -> Result<Program, LoadError> {
        let replaced = |inst: &Inst| Inst { op: if inst.op == Op::LoadUniform { Op::Load } else { inst.op }, ..inst.clone() };
        let insts = self.insts.iter().map(replaced).collect();
        let program = Program::load(insts, &self.header, self.files.clone(), machine)?;
        Ok(Program { code_bytes: self.code_bytes, ..program })
    }

    /// Checks and prepares a kernel's instructions.
    ///
    /// # Errors
    /// The first instruction that the machine would not execute.
    pub fn load(insts: Vec<Inst>, header: &KernelHeader, files: Vec<String>, machine: &Machine) -> Result<Program, LoadError> {
        let fail = |index: usize, message: String| LoadError { kernel: header.name.clone(), index, message };
        if insts.is_empty() {
            return Err(fail(0, "the kernel has no code".into()));
        }
        if header.warp_size != machine.warp_size {
            let message = format!("compiled for warps of {} lanes; the machine has {}", header.warp_size, machine.warp_size);
            return Err(fail(0, message));
        }
        for (i, inst) in insts.iter().enumerate() {
            rules::check(inst, None).and_then(|()| limits::check(inst, None, true, machine)).map_err(|m| fail(i, m))?;
            registers_declared(inst, header).map_err(|m| fail(i, m))?;
            if !super::exec::is_executable(inst) {
                return Err(fail(i, format!("`{}.{}` has no meaning with these modifiers", inst.info().mnemonic, inst.ty)));
            }
        }
        let blocks = blocks(&insts).map_err(|(i, m)| fail(i, m))?;
        let clusters = machine.clusters.len();
        let (rows, operands) = number_rows(&insts, header, clusters).map_err(|m| fail(0, m))?;
        let code_bytes = header.text_offset + (insts.len() * INSTRUCTION_BYTES) as u64;
        let (header, host, derived) = (header.clone(), Default::default(), Default::default());
        let mut program = Program { header, insts, blocks, rows, operands, files, clusters, code_bytes, host, derived };
        for b in 0..program.blocks.len() {
            let end = program.blocks[b].first + program.blocks[b].body;
            if let End::Scalar { condition, .. } = &mut program.blocks[b].end {
                *condition = program.operands[end as usize][1];
            }
        }
        Ok(program)
    }

    /// Whether work-items may learn of each other's writes other than at barriers: the code has atomics or volatile loads.
    pub fn communicates(&self) -> bool {
        *self.derived.communicates.get_or_init(|| self.insts.iter().any(|i| i.op == Op::Atomic || is_volatile(i)))
    }

    /// Whether work-items may see each other's writes other than at barriers, and so wait for each other: of atomics, those
    /// count that have results.
    pub fn learns(&self) -> bool {
        let learns = |i: &Inst| if i.op == Op::Atomic { i.dst.is_some() } else { is_volatile(i) };
        *self.derived.learns.get_or_init(|| self.insts.iter().any(learns))
    }

    /// `file:line` of an instruction.
    pub fn source(&self, index: usize) -> Option<String> {
        let SourceLoc { file, line, .. } = self.insts.get(index)?.loc;
        let file = self.files.get(file as usize)?;
        (line != 0).then(|| format!("{file}:{line}"))
    }
}

/// Whether an instruction loads what others may have written meanwhile.
fn is_volatile(inst: &Inst) -> bool {
    let volatile = inst.info().flags.load && matches!(inst.mods.cache, CachePolicy::Cv);
    volatile && inst.mods.space != Some(MemorySpace::Private)
}

/// Bytes of code that is loaded with a kernel: all kernels, and the versions behind them if it is one.
fn loaded_bytes(object: &ObjectMetadata, header: &KernelHeader) -> u64 {
    let loaded = object.kernels.iter().filter(|k| header.rows_fill_warps || !k.rows_fill_warps);
    loaded.map(|k| k.text_offset + k.text_size).max().unwrap_or(0)
}

/// Registers beyond what the header declares would not have been allotted.
fn registers_declared(inst: &Inst, header: &KernelHeader) -> Result<(), String> {
    let check = |reg: PhysReg, words: u8| {
        let end = u32::from(reg.index) + u32::from(words.max(1));
        let limit = match reg.space {
            Space::Main => header.main_registers,
            Space::Scalar => header.scalar_registers,
            Space::Predicate => header.predicate_registers,
            Space::Local => header.local_registers.get(usize::from(inst.cluster)).copied().unwrap_or(0),
            _ => 0,
        };
        if end > limit {
            Err(format!("{:?} register {} where the header declares {limit}", reg.space, reg.index))
        } else {
            Ok(())
        }
    };
    if let Some(r) = inst.dst.as_phys() {
        check(r, inst.dst_words())?;
    }
    for (i, s) in inst.srcs.iter().enumerate() {
        if let Some(r) = s.as_phys() {
            check(r, inst.src_words(i))?;
        }
    }
    if inst.is_memory() && inst.mods.address == AddressMode::Surface {
        let surface = usize::from(SurfacePlace::from_immediate(inst.imm).surface);
        if surface >= header.surfaces.len() {
            return Err(format!("surface t{surface} where the header declares {}", header.surfaces.len()));
        }
    }
    if matches!(inst.op, Op::Sample | Op::ImageStore) {
        let surface = ImageAccess::from_immediate(inst.imm).map_or(0, |a| usize::from(a.surface));
        if header.surfaces.get(surface).is_none_or(|s| s.kind != SurfaceKind::TypedImage) {
            return Err(format!("t{surface} is no image"));
        }
    }
    match inst.guard.map(|g| g.reg) {
        Some(Reg::Physical(r)) => check(r, 0),
        _ => Ok(()),
    }
}

/// Cuts the code into blocks.
fn blocks(insts: &[Inst]) -> Result<Vec<BasicBlock>, (usize, String)> {
    let n = insts.len();
    let place = |i: usize, distance: i32| -> Result<usize, (usize, String)> {
        let target = i as i64 + 1 + i64::from(distance);
        usize::try_from(target)
            .ok()
            .filter(|t| *t < n)
            .ok_or_else(|| (i, format!("branch to instruction {target}, outside the kernel's {n}")))
    };
    let mut leader = vec![false; n + 1];
    leader[0] = true;
    for (i, inst) in insts.iter().enumerate() {
        if let Targets::Offsets { target, reconverge } = inst.targets {
            leader[place(i, target)?] = true;
            if let Some(r) = reconverge {
                leader[place(i, r)?] = true;
            }
        }
        if inst.info().flags.terminator || inst.op == Op::Barrier {
            leader[i + 1] = true;
        }
    }
    let mut number = vec![NOWHERE; n + 1];
    let mut count = 0;
    for (i, l) in leader.iter().enumerate().take(n) {
        if *l {
            number[i] = count;
            count += 1;
        }
    }
    let mut result = Vec::with_capacity(count as usize);
    let mut first = 0;
    while first < n {
        let mut i = first;
        let end = loop {
            let inst = &insts[i];
            let target = || match inst.targets {
                Targets::Offsets { target, .. } => place(i, target).map(|t| number[t]),
                _ => Err((i, "a branch without a target".into())),
            };
            let end = match inst.op {
                Op::Bra => Some(End::Jump(target()?)),
                Op::BraScalar => Some(End::Scalar { condition: 0, if_zero: inst.imm != 0, target: target()? }),
                Op::BraDivergent => {
                    let Some(heddle_isa::Guard { reg: Reg::Physical(p), negate }) = inst.guard else {
                        return Err((i, "`brad` needs a guard".into()));
                    };
                    let reconverge = match inst.targets {
                        Targets::Offsets { reconverge: Some(r), .. } => number[place(i, r)?],
                        _ => NOWHERE,
                    };
                    Some(End::Divergent { predicate: p.index, negate, target: target()?, reconverge })
                }
                Op::Exit => Some(End::Exit),
                Op::Trap => Some(End::Trap),
                Op::Barrier => Some(End::Barrier),
                _ => None,
            };
            match end {
                Some(end) => break BasicBlock { first: first as u32, body: (i - first) as u32, end },
                None if leader[i + 1] || i + 1 == n => {
                    break BasicBlock { first: first as u32, body: (i + 1 - first) as u32, end: End::Fall };
                }
                None => i += 1,
            }
        };
        first += end.len() as usize;
        let goes_on = matches!(end.end, End::Fall | End::Scalar { .. } | End::Divergent { .. } | End::Barrier);
        if goes_on && first >= n {
            return Err((n - 1, "control falls off the end of the kernel".into()));
        }
        result.push(end);
    }
    Ok(result)
}

fn number_rows(insts: &[Inst], header: &KernelHeader, clusters: usize) -> Result<(Rows, Vec<[u16; 4]>), String> {
    let mut next: u32 = 4;
    let mut take = |count: u32| {
        // Even starts keep 64-bit pairs apart from their neighbours.
        let start = next;
        next += count.next_multiple_of(2);
        start as u16
    };
    let mut rows = Rows { main: take(header.main_registers), ..Default::default() };
    rows.local = (0..clusters).map(|c| take(header.local_registers.get(c).copied().unwrap_or(0))).collect();
    rows.scalar = take(header.scalar_registers);
    let mut words = 0u16;
    let mut specials: Vec<Special> = Vec::new();
    for inst in insts {
        for (i, s) in inst.srcs.iter().enumerate() {
            match s {
                Operand::Constant(c) => words = words.max(u16::from(*c) + u16::from(inst.src_words(i).max(1))),
                Operand::Special(s) if !specials.contains(s) => specials.push(*s),
                _ => {}
            }
        }
    }
    rows.constant_words = words;
    rows.constants = take(u32::from(words));
    for s in specials {
        // Two rows, the second zero, in case a pair is read.
        let row = take(2);
        rows.specials.push((s, row));
    }
    rows.surfaces = take(header.surfaces.len() as u32);
    rows.immediates = take(0);
    let mut immediates: FxHashMap<(u32, u32), u16> = FxHashMap::default();
    let mut operands = Vec::with_capacity(insts.len());
    for inst in insts {
        let mut row = |op: Operand, role: Option<Role>, words: u8| -> u16 {
            match op {
                Operand::None => ZERO_ROW,
                Operand::Reg(Reg::Physical(p)) => match p.space {
                    Space::Main => rows.main + u16::from(p.index),
                    Space::Local => rows.local[usize::from(inst.cluster)] + u16::from(p.index),
                    Space::Scalar => rows.scalar + u16::from(p.index),
                    // Predicates are masks of their own; the number is enough.
                    _ => u16::from(p.index),
                },
                Operand::Reg(Reg::Virtual { .. }) => ZERO_ROW,
                Operand::Special(s) => rows.specials.iter().find(|(k, _)| *k == s).map_or(ZERO_ROW, |(_, r)| *r),
                Operand::Constant(c) => rows.constants + u16::from(c),
                Operand::Immediate(v) => {
                    let upper_half = words == 2
                        && match role {
                            Some(Role::From) => inst.mods.from == Some(Type::F64),
                            _ => inst.ty == Type::F64,
                        };
                    let pair = if upper_half { (0, v) } else { (v, if (v as i32) < 0 { u32::MAX } else { 0 }) };
                    *immediates.entry(pair).or_insert_with(|| {
                        let at = rows.immediates + rows.immediate_values.len() as u16;
                        rows.immediate_values.extend([pair.0, pair.1]);
                        at
                    })
                }
            }
        };
        let mut all = [ZERO_ROW; 4];
        all[0] = row(inst.dst, inst.info().dst, inst.dst_words());
        for (i, s) in inst.srcs.iter().enumerate() {
            all[i + 1] = row(*s, Some(inst.src_role(i)), inst.src_words(i));
        }
        if inst.is_memory() && inst.mods.address == AddressMode::Surface {
            all[2] = rows.surfaces + u16::from(SurfacePlace::from_immediate(inst.imm).surface);
        }
        operands.push(all);
    }
    let total = u32::from(rows.immediates) + rows.immediate_values.len() as u32;
    if total > u32::from(u16::MAX) - 16 {
        return Err("the kernel names too many registers and immediates".into());
    }
    rows.total = total as u16;
    Ok((rows, operands))
}
