//! What instructions do to a warp. Knows no cycles.
//!
//! What an operation computes is said once, in `heddle_isa::meaning`, of which `heddle-lanes` makes loops over the rows of a
//! warp's register file. Accesses and operations across lanes are here, monomorphised for the warp size so that the compiler
//! vectorises their loops. A scalar instruction computes lane 0 and writes the result to the whole row, so vector instructions read
//! scalar registers like any other row.

pub mod access;
pub mod banks;
mod cached;
mod copy;
mod limits;
pub mod scalar_lanes;
mod select;
pub mod strands;
#[cfg(test)]
mod tests;
pub mod texture;
pub mod undefined;
pub mod uniform;
pub mod watch;

use std::sync::Arc;

use super::fault::FaultKind;
use super::memory::DeviceMemory;
use super::program::{End, Program};
use crate::Descriptor;
use crate::check::Checker;
use crate::hierarchy::Path;
use crate::hierarchy::cluster_caches::ClusterCaches;
use crate::hierarchy::line::LaneWords;
use crate::tolerance::{self, Tolerance};
use crate::touches::Touches;
use heddle_isa::{
    AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Guard, MemorySpace, Op, Operand, Reg, Space, Special, Type,
};
use heddle_lanes::{LaneLoop, Operands};

pub use heddle_lanes::Row;

/// The function that executes an instruction.
pub type Execute<const N: usize> = for<'a> fn(&mut Lanes<'a, N>, &Decoded<N>);

/// An instruction, ready to run.
#[derive(Clone, Debug)]
pub struct Decoded<const N: usize> {
    /// What runs it.
    pub run: Execute<N>,
    /// What the operation does; differs from `run` for u-marked instructions.
    pub inner: Execute<N>,
    /// What an operation of single lanes does, and with which registers.
    pub lane_loop: LaneLoop<N>,
    /// As above.
    pub operands: Operands,
    /// The operation's type.
    pub ty: Type,
    /// Words of the destination; 0 for predicates and none.
    pub dst_words: u8,
    /// Words of each source that may differ between lanes; 0 for the others.
    pub lane_words: [u8; 3],
    /// The row of the first of these words.
    pub first_lanes: Option<u16>,
    /// Destination row, or predicate number.
    pub dst: u16,
    /// Source rows, or predicate numbers.
    pub src: [u16; 3],
    /// Bits: source i is a predicate register.
    pub predicate_sources: u8,
    /// Guard predicate, 255 for none.
    pub guard: u8,
    /// The guard is inverted.
    pub guard_negate: bool,
    /// Writes the whole row from lane 0.
    pub scalar: bool,
    /// Whether there is a destination.
    pub has_dst: bool,
    /// The atomic operation, by number.
    pub mode: u8,
    /// Offset bytes or immediate field.
    pub imm: i32,
    /// Memory space.
    pub space: MemorySpace,
    /// Cache policy.
    pub policy: CachePolicy,
    /// L1 of a load.
    pub path: Path,
    /// What `cctl` does.
    pub control: (CacheName, CacheOperation),
    /// Index of the instruction in the kernel.
    pub index: u32,
}

/// An access for the timing model.
#[derive(Clone, Copy, Debug)]
pub struct AccessRecord {
    /// Space.
    pub space: MemorySpace,
    /// Sectors touched, or cycles of bank conflicts (work-group memory).
    pub units: u32,
    /// It went through the memory hierarchy, which has what it [cost](ClusterCaches::cost) until the next access. Accesses to
    /// work-group memory and the constant bank do not.
    pub cached: bool,
}

/// Writes what some lanes of a load have got to its registers.
pub type Finish<const N: usize> = for<'a> fn(&mut Lanes<'a, N>, &Decoded<N>, &LaneWords, u64);

/// A load that waits for the memory hierarchy.
pub enum Late<const N: usize> {
    /// It gives words to the registers of some lanes.
    Words {
        /// How it ends.
        finish: Finish<N>,
        /// Lanes.
        mask: u64,
    },
    /// It reads an image.
    Texels(Box<texture::TexelRead<N>>),
}

/// The state that instructions act on: one warp. What most of them need comes first.
#[repr(C)]
pub struct Lanes<'a, const N: usize> {
    /// The register file.
    pub rows: Vec<Row<N>>,
    /// EXEC.
    pub mask: u64,
    /// Instructions executed (functional mode) or cycle (timing mode), for the clock register.
    pub clock: u64,
    /// What the warp does to memory, while it is watched for progress ([`crate::progress`]).
    pub watch: Option<Box<watch::Log>>,
    /// Local registers that were lost (checking mode, C14).
    pub lost: Option<Box<strands::Lost>>,
    /// For which lanes scalar registers hold their values (checking mode, S8).
    pub scalar_lanes: Option<Box<scalar_lanes::ScalarLanes>>,
    /// The memory hierarchy, in timing mode; without it accesses go straight to memory.
    pub hierarchy: Option<&'a std::cell::RefCell<ClusterCaches>>,
    /// The last load has not been given its bytes: what to do with them.
    pub late: Option<Late<N>>,
    /// The last access.
    pub access: Option<AccessRecord>,
    /// The first fault, with the instruction and lane.
    pub fault: Option<(FaultKind, u32, u32)>,
    /// Predicate registers: a bit a lane.
    pub predicates: [u64; 16],
    /// Device memory.
    pub memory: &'a DeviceMemory,
    /// The work-group's memory.
    pub local: *mut u8,
    /// Its size.
    pub local_bytes: u32,
    /// Private memory of the warp's lanes: a row for each word, so that lanes that access one variable access one row.
    pub private: Vec<Row<N>>,
    /// Bytes of private memory a lane.
    pub private_bytes: u32,
    /// The constant bank.
    pub constants: &'a [u8],
    /// The descriptor table (G7).
    pub descriptors: &'a [Descriptor],
    /// Accesses of 8 and 16 bytes of device memory may begin at any word.
    pub unaligned_vectors: bool,
    /// Last allocation hit by an instruction of this number modulo [`RANGES`]: start and end address.
    pub ranges: [(u64, u64); RANGES],
    /// The same of memory that checking mode need not watch; (0, 0) for none.
    pub quiet: [(u64, u64); RANGES],
    /// By pointer argument: what compiled code may access from there without asking.
    pub bases: Vec<(u64, u64)>,
    /// What compiled code may have a copy of (`jit::Sums`).
    pub sums: &'a [*mut u8],
    /// The descriptor table with the bounds of surfaces in such memory; those of others are empty.
    pub quiet_descriptors: &'a [Descriptor],
    /// Registers whose value was never written (checking mode).
    pub undefined: undefined::Undefined,
    /// SM.
    pub sm: usize,
    /// First byte of the warp's private memory among those of all resident warps.
    pub private_base: u64,
    /// Checking mode's observer of accesses (functional mode).
    pub checker: Option<&'a std::cell::RefCell<Checker>>,
    /// Is told of accesses to device memory, for caches that are kept warm (functional mode).
    pub touches: Option<&'a std::cell::RefCell<Touches>>,
    /// Banks of work-group memory; 0: do not record accesses. Not 0 with a checker, touches or a watch either, so
    /// that what they watch leaves the frequent path.
    pub local_banks: u32,
    /// Compare the operands of u-marked instructions (S8).
    pub check_marks: bool,
    /// What is let pass, and where that is noted.
    pub tolerance: Tolerance,
    /// Its notes.
    pub tolerated: &'a tolerance::Log,
}

/// Remembered allocations. An instruction nearly always stays in one, neighbours in the code often use different ones.
pub const RANGES: usize = 16;

/// All N lanes.
pub const fn all_lanes(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Lanes of a mask.
#[inline(always)]
fn lanes(mut mask: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

impl<const N: usize> Lanes<'_, N> {
    /// The active lanes of an instruction: EXEC under its guard.
    #[inline(always)]
    pub fn active(&self, d: &Decoded<N>) -> u64 {
        if d.guard == 255 {
            self.mask
        } else {
            let g = self.predicates[usize::from(d.guard & 15)];
            self.mask & if d.guard_negate { !g } else { g }
        }
    }

    #[inline(always)]
    fn row(&self, row: u16) -> &[u32; N] {
        debug_assert!((row as usize) < self.rows.len());
        // SAFETY: rows are numbered by `Program::load`, within the file that `prepare` allocated.
        unsafe { &self.rows.get_unchecked(row as usize).0 }
    }

    #[inline(always)]
    fn row_mut(&mut self, row: u16) -> &mut [u32; N] {
        debug_assert!((row as usize) < self.rows.len());
        // SAFETY: as in `row`.
        unsafe { &mut self.rows.get_unchecked_mut(row as usize).0 }
    }

    /// A source that is a predicate: a P register, or a row that is non-zero.
    #[inline(always)]
    fn predicate(&self, d: &Decoded<N>, i: usize) -> u64 {
        if d.predicate_sources >> i & 1 == 1 {
            self.predicates[usize::from(d.src[i] & 15)]
        } else if self.row(d.src[i])[0] != 0 {
            all_lanes(N)
        } else {
            0
        }
    }

    /// Whether instructions are looked at before they act, other than for undefined values.
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        self.lost.is_some() || self.scalar_lanes.is_some()
    }

    /// Looks at an instruction that is about to act.
    #[cold]
    pub fn observe(&mut self, d: &Decoded<N>, program: &Program) {
        let (inst, rows) = (&program.insts[d.index as usize], &program.operands[d.index as usize]);
        strands::observe(self, d, inst, rows);
        scalar_lanes::observe(self, d, inst, rows);
    }

    /// Looks at the instruction that ends a block, of which `index` is the number.
    #[cold]
    pub fn observe_end(&mut self, end: End, index: u32, program: &Program) {
        strands::observe_end(self, &program.insts[index as usize]);
        scalar_lanes::observe_end(self, end, index);
    }

    /// Records the first fault.
    #[cold]
    fn set_fault(&mut self, kind: FaultKind, d: &Decoded<N>, lane: u32) {
        if self.fault.is_none() {
            self.fault = Some((kind, d.index, lane));
        }
    }

    /// The row of a special register that changes while the warp runs.
    pub fn refresh(&mut self, program: &Program) {
        for &(special, row) in &program.rows.specials {
            let value = match special {
                Special::ExecLow => self.mask as u32,
                Special::ExecHigh => (self.mask >> 32) as u32,
                Special::ClockLow => self.clock as u32,
                _ => continue,
            };
            *self.row_mut(row) = [value; N];
        }
    }
}

/// Through which L1 an instruction reads: textures and `ldu` through the uniform one. How its address is made
/// does not matter.
pub fn path_of(inst: &heddle_isa::Inst) -> Path {
    match inst.mods.space {
        _ if matches!(inst.op, Op::LoadUniform | Op::Sample) => Path::Uniform,
        Some(MemorySpace::Constant) => Path::Constant,
        _ => Path::Data,
    }
}

/// Whether the interpreter has the instruction: its type and modifiers have a meaning.
pub fn is_executable(inst: &heddle_isa::Inst) -> bool {
    select::select::<32>(inst).is_some()
}

/// Stands where an instruction without a meaning would.
fn undefined_operation<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    l.set_fault(FaultKind::Trap, d, l.mask.trailing_zeros());
}

/// A kernel's instructions for N lanes, its warp size: prepared once for all launches.
pub fn decoded<const N: usize>(program: &Program) -> Arc<Vec<Decoded<N>>> {
    let kept = program.derived.decoded.get_or_init(|| Arc::new(prepare::<N>(program)));
    kept.clone().downcast().unwrap_or_else(|_| Arc::new(prepare::<N>(program)))
}

/// Prepares a kernel's instructions for N lanes.
pub fn prepare<const N: usize>(program: &Program) -> Vec<Decoded<N>> {
    program
        .insts
        .iter()
        .enumerate()
        .map(|(index, inst)| {
            let rows = program.operands[index];
            let mut predicate_sources = 0;
            let mut lane_words = [0; 3];
            for (i, s) in inst.srcs.iter().enumerate() {
                if matches!(s, Operand::Reg(Reg::Physical(p)) if p.space == Space::Predicate) {
                    predicate_sources |= 1 << i;
                } else if !s.is_uniform_physical() {
                    lane_words[i] = inst.src_words(i);
                }
            }
            if inst.is_memory() && inst.mods.address == AddressMode::Surface {
                // The row of the surface's offsets.
                lane_words[1] = 1;
            }
            let (guard, guard_negate) = match inst.guard {
                Some(Guard { reg: Reg::Physical(p), negate }) => (p.index, negate),
                _ => (255, false),
            };
            let mode = match inst.op {
                Op::Atomic => inst.mods.atomic as u8,
                _ => inst.mods.rounding as u8,
            };
            // `Program::load` refuses what has no meaning.
            let (inner, lane_loop) = select::select::<N>(inst).unwrap_or((undefined_operation, LaneLoop::NONE));
            let path = path_of(inst);
            let predicate = matches!(inst.dst.as_phys(), Some(p) if p.space == Space::Predicate);
            Decoded {
                run: if inst.uniform { uniform::marked::<N> } else { inner },
                inner,
                lane_loop,
                operands: Operands {
                    destination: rows[0],
                    sources: [rows[1], rows[2], rows[3]],
                    predicate_sources,
                    scalar: inst.writes_scalar_register(),
                    modifiers: inst.neg | inst.abs << 3,
                    mode,
                },
                ty: inst.ty,
                dst_words: if predicate || !inst.dst.is_some() { 0 } else { inst.dst_words() },
                lane_words,
                first_lanes: lane_words.iter().position(|words| *words > 0).map(|i| rows[i + 1]),
                dst: rows[0],
                src: [rows[1], rows[2], rows[3]],
                predicate_sources,
                guard,
                guard_negate,
                scalar: inst.writes_scalar_register(),
                has_dst: inst.dst.is_some(),
                mode,
                imm: inst.imm,
                space: inst.mods.space.unwrap_or(MemorySpace::Global),
                policy: inst.mods.cache,
                path,
                control: inst.mods.control.unwrap_or((CacheName::D, CacheOperation::Qry1)),
                index: index as u32,
            }
        })
        .collect()
}

/// The atomic operation of a decoded mode.
fn atomic_of(mode: u8) -> AtomicOp {
    AtomicOp::from_repr(mode).unwrap_or_default()
}
