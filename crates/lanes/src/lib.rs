//! Lane loops: what the instructions that compute do to the registers of a warp.
//!
//! What an operation computes for one lane is said once, in `heddle_isa::meaning`; here it becomes a function over the rows
//! of a register file ([`LaneLoop`]). A loop goes through a warp [`WIDTH`] lanes at a time, a vector of the host. There is one for
//! warps of 32 lanes and one for all other sizes: there are hundreds of operations, and a copy of each for every size took most of
//! the simulator's compile time. All lanes are computed, and the active ones written back.
//!
//! This crate knows operands by the numbers of their rows. It knows no memory, no control flow, and no cycles.

mod loops;
#[cfg(test)]
mod tests;

use heddle_isa::{Inst, Meaning};

/// Lanes that are computed at once; sizes of warps are multiples of it.
pub const WIDTH: usize = 8;

/// Predicate registers of a warp.
pub const PREDICATES: usize = 16;

/// A register of all lanes.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Row<const N: usize>(pub [u32; N]);

/// The operands of an instruction that computes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operands {
    /// Row of the destination, or number of the predicate register.
    pub destination: u16,
    /// Rows of the sources, or numbers of predicate registers.
    pub sources: [u16; 3],
    /// Bits: source i is a predicate register.
    pub predicate_sources: u8,
    /// Lane 0 is computed for all, and written whatever lanes are active.
    pub scalar: bool,
    /// Sign modifiers of source i: bit i negates, bit i + 3 takes the absolute value before.
    pub modifiers: u8,
    /// The rounding, of operations that have one.
    pub mode: u8,
}

/// What executes an instruction that computes: of the rows of a register file (the first word of the first one), predicate registers,
/// the lanes that the instruction writes, the operands, and the lanes of a row. These are arguments of their own, which stay in
/// the host's registers.
type Execute = unsafe fn(*mut u32, &mut [u64; PREDICATES], u64, &Operands, usize);

/// The loop that executes an instruction, for warps of one size.
#[derive(Clone, Copy, Debug)]
pub struct LaneLoop<const N: usize>(Execute);

impl<const N: usize> LaneLoop<N> {
    /// The loop of instructions that have none.
    pub const NONE: LaneLoop<N> = LaneLoop(loops::nothing);

    /// What an instruction is; if each lane computes for itself, with the loop that executes it, or `None` for a type or
    /// modifiers without a meaning.
    pub fn select(inst: &Inst) -> Meaning<Option<LaneLoop<N>>> {
        const { assert!(N.is_multiple_of(WIDTH) && N <= 64, "no size of a warp") };
        // The usual size has loops of its own, whose length the compiler knows.
        let found = if N == USUAL { loops::usual(inst) } else { loops::any(inst) };
        match found {
            Meaning::Lane(run) => Meaning::Lane(run.map(LaneLoop)),
            Meaning::CrossLane(what) => Meaning::CrossLane(what),
            Meaning::Memory(what) => Meaning::Memory(what),
            Meaning::Control => Meaning::Control,
            Meaning::Pseudo => Meaning::Pseudo,
        }
    }

    /// Executes it; `active`: the lanes that it writes.
    ///
    /// # Safety
    /// The rows that the operands name, with those behind them that wide values take, are there.
    #[inline(always)]
    pub unsafe fn run(self, rows: &mut [Row<N>], predicates: &mut [u64; PREDICATES], active: u64, operands: &Operands) {
        // SAFETY: as the caller says; the rows are lent to this alone.
        unsafe { (self.0)(rows.as_mut_ptr().cast(), predicates, active, operands, N) }
    }
}

/// Lanes of the default machine's warps.
const USUAL: usize = 32;
/// Stands for a size that is known when a loop runs.
const ANY: usize = 0;

/// The registers of a warp, for an instruction; `LANES` is [`ANY`], or the lanes of a row.
struct Registers<'a, const LANES: usize> {
    /// The first word of the first row.
    rows: *mut u32,
    /// A bit a lane.
    predicates: &'a mut [u64; PREDICATES],
    /// Lanes that the instruction writes.
    active: u64,
    /// Of a row, whatever `LANES` says.
    lanes: usize,
}

/// The words of `yes` where a bit is set, of `no` elsewhere. By arithmetic, of which the compiler makes vector code.
#[inline(always)]
fn choose(bits: u8, yes: &[u32; WIDTH], no: &[u32; WIDTH]) -> [u32; WIDTH] {
    std::array::from_fn(|lane| {
        let mask = (u32::from(bits) >> lane & 1).wrapping_neg();
        yes[lane] & mask | no[lane] & !mask
    })
}

impl<const LANES: usize> Registers<'_, LANES> {
    /// Lanes of a row.
    #[inline(always)]
    fn lanes(&self) -> usize {
        if LANES == ANY { self.lanes } else { LANES }
    }

    /// All lanes.
    #[inline(always)]
    fn all(&self) -> u64 {
        u64::MAX >> (64 - self.lanes())
    }

    /// Vectors of a row.
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.lanes() / WIDTH
    }

    /// Words from the first row to another.
    #[inline(always)]
    fn offset(&self, row: u16) -> usize {
        const ALIGNED: usize = align_of::<Row<WIDTH>>() / size_of::<u32>();
        usize::from(row) * self.lanes().max(ALIGNED)
    }

    /// Vector `k` of a row.
    ///
    /// # Safety
    /// There are such a row and such a vector.
    #[inline(always)]
    unsafe fn vector(&self, row: u16, k: usize) -> &[u32; WIDTH] {
        // SAFETY: inside the rows, as the caller says.
        unsafe { &*self.rows.add(self.offset(row) + k * WIDTH).cast() }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// As of [`Registers::vector`].
    #[inline(always)]
    unsafe fn vector_mut(&mut self, row: u16, k: usize) -> &mut [u32; WIDTH] {
        // SAFETY: inside the rows, as the caller says; they are lent to this alone.
        unsafe { &mut *self.rows.add(self.offset(row) + k * WIDTH).cast() }
    }

    /// Writes the active lanes of a vector.
    ///
    /// # Safety
    /// As of [`Registers::vector`].
    #[inline(always)]
    unsafe fn write(&mut self, row: u16, k: usize, values: &[u32; WIDTH]) {
        let active = (self.active >> (k * WIDTH)) as u8;
        // SAFETY: as the caller says.
        let vector = unsafe { self.vector_mut(row, k) };
        // Where choosing is one instruction, without a question whether all are: in diverged code nobody can foretell the answer.
        if active == u8::MAX && !cfg!(target_feature = "avx512vl") {
            *vector = *values;
        } else {
            *vector = choose(active, values, vector);
        }
    }

    /// Writes one word to all lanes.
    ///
    /// # Safety
    /// There is such a row.
    #[inline(always)]
    unsafe fn fill(&mut self, row: u16, word: u32) {
        for k in 0..self.vectors() {
            // SAFETY: as the caller says.
            unsafe { *self.vector_mut(row, k) = [word; WIDTH] };
        }
    }

    /// Source `i`, which is a predicate register, or a row that is not zero.
    ///
    /// # Safety
    /// There is the row that it names.
    #[inline(always)]
    unsafe fn predicate(&self, operands: &Operands, i: usize) -> u64 {
        let source = operands.sources[i];
        if operands.predicate_sources >> i & 1 == 1 {
            self.predicates[usize::from(source) % PREDICATES]
        // SAFETY: as the caller says.
        } else if unsafe { self.vector(source, 0) }[0] != 0 {
            self.all()
        } else {
            0
        }
    }

    /// Writes the active lanes of the destination, which is a predicate register.
    #[inline(always)]
    fn set_predicate(&mut self, operands: &Operands, value: u64) {
        let register = &mut self.predicates[usize::from(operands.destination) % PREDICATES];
        *register = *register & !self.active | value & self.active;
    }
}
