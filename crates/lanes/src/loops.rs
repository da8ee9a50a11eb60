//! A loop over a warp's lanes of each operation.

use heddle_isa::meaning::{Lanewise, Value};
use heddle_isa::{Inst, Meaning, Op, Rounding, Type};

use super::{ANY, Execute, Operands, PREDICATES, Registers, USUAL, WIDTH, choose};

/// Reads vector `k` of source `i`.
///
/// # Safety
/// The rows of the source and the vector are there.
#[inline(always)]
unsafe fn fetch<T: Value, const LANES: usize>(r: &Registers<LANES>, o: &Operands, i: usize, k: usize) -> [T; WIDTH] {
    // SAFETY: as the caller says.
    unsafe {
        let low = r.vector(o.sources[i], k);
        let high = if T::WORDS == 2 { r.vector(o.sources[i] + 1, k) } else { low };
        std::array::from_fn(|lane| T::from_words(low[lane], if T::WORDS == 2 { high[lane] } else { 0 }))
    }
}

/// The same with the source's sign modifiers.
///
/// # Safety
/// The rows of the source and the vector are there.
#[inline(always)]
unsafe fn operand<T: Value, const LANES: usize>(r: &Registers<LANES>, o: &Operands, i: usize, k: usize) -> [T; WIDTH] {
    let (kept, turned) = T::signs(o.modifiers >> i & 1 == 1, o.modifiers >> (i + 3) & 1 == 1);
    // SAFETY: as the caller says.
    unsafe {
        let last = r.vector(o.sources[i] + T::WORDS - 1, k).map(|word| word & kept ^ turned);
        let low = if T::WORDS == 2 { *r.vector(o.sources[i], k) } else { last };
        std::array::from_fn(|lane| T::from_words(low[lane], if T::WORDS == 2 { last[lane] } else { 0 }))
    }
}

/// Lane 0 of source `i`, with its sign modifiers.
///
/// # Safety
/// The rows of the source are there.
#[inline(always)]
unsafe fn first<T: Value, const LANES: usize>(r: &Registers<LANES>, o: &Operands, i: usize) -> T {
    // SAFETY: as the caller says.
    unsafe { operand::<T, LANES>(r, o, i, 0)[0] }
}

/// Writes what `values` computes for each vector to the active lanes of the destination.
///
/// # Safety
/// The rows of the destination are there.
#[inline(always)]
unsafe fn store<T: Value, const LANES: usize>(
    r: &mut Registers<LANES>,
    o: &Operands,
    values: impl Fn(&Registers<LANES>, usize) -> [T; WIDTH],
) {
    for k in 0..r.vectors() {
        let values = values(r, k);
        // SAFETY: as the caller says.
        unsafe {
            r.write(o.destination, k, &values.map(|v| v.words().0));
            if T::WORDS == 2 {
                r.write(o.destination + 1, k, &values.map(|v| v.words().1));
            }
        }
    }
}

/// Writes a value to all lanes of the destination.
///
/// # Safety
/// The rows of the destination are there.
#[inline(always)]
unsafe fn fill<T: Value, const LANES: usize>(r: &mut Registers<LANES>, o: &Operands, value: T) {
    let (low, high) = value.words();
    // SAFETY: as the caller says.
    unsafe {
        r.fill(o.destination, low);
        if T::WORDS == 2 {
            r.fill(o.destination + 1, high);
        }
    }
}

/// # Safety
/// The rows of the operands are there.
#[inline(always)]
unsafe fn map1<A: Value, R: Value, const LANES: usize>(r: &mut Registers<LANES>, o: &Operands, f: impl Fn(A) -> R) {
    // SAFETY: as the caller says.
    unsafe {
        store(r, o, |r, k| {
            let a = operand::<A, LANES>(r, o, 0, k);
            std::array::from_fn(|lane| f(a[lane]))
        });
    }
}

/// # Safety
/// The rows of the operands are there.
#[inline(always)]
unsafe fn map2<A: Value, B: Value, R: Value, const LANES: usize>(r: &mut Registers<LANES>, o: &Operands, f: impl Fn(A, B) -> R) {
    // SAFETY: as the caller says.
    unsafe {
        store(r, o, |r, k| {
            let a = operand::<A, LANES>(r, o, 0, k);
            let b = operand::<B, LANES>(r, o, 1, k);
            std::array::from_fn(|lane| f(a[lane], b[lane]))
        });
    }
}

/// # Safety
/// The rows of the operands are there.
#[inline(always)]
unsafe fn map3<A: Value, B: Value, C: Value, R: Value, const LANES: usize>(
    r: &mut Registers<LANES>,
    o: &Operands,
    f: impl Fn(A, B, C) -> R,
) {
    // SAFETY: as the caller says.
    unsafe {
        store(r, o, |r, k| {
            let a = operand::<A, LANES>(r, o, 0, k);
            let b = operand::<B, LANES>(r, o, 1, k);
            let c = operand::<C, LANES>(r, o, 2, k);
            std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]))
        });
    }
}

/// Compares into a predicate register.
///
/// # Safety
/// The rows of the sources are there.
#[inline(always)]
unsafe fn compare<A: Value, const LANES: usize>(r: &mut Registers<LANES>, o: &Operands, f: impl Fn(A, A) -> bool) {
    let mut result = 0;
    for k in 0..r.vectors() {
        // SAFETY: as the caller says.
        let (a, b) = unsafe { (operand::<A, LANES>(r, o, 0, k), operand::<A, LANES>(r, o, 1, k)) };
        result |= u64::from(pack(std::array::from_fn(|lane| u8::from(f(a[lane], b[lane]))))) << (k * WIDTH);
    }
    r.set_predicate(o, result);
}

/// Bit i of the result is byte i (0 or 1).
#[inline(always)]
fn pack(bits: [u8; WIDTH]) -> u8 {
    // Gathers the low bit of each byte into the top byte.
    (u64::from_le_bytes(bits).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The value of a function that captures nothing.
#[inline(always)]
fn instance<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "a lane's function captures something") };
    // SAFETY: a type without bytes may be read from any aligned pointer. It is inhabited, as `Loops` was given a value
    // of it, and `Copy` says that making another is nothing special.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// Makes functions over all lanes of functions of one. Scalar instructions compute lane 0 alone.
#[derive(Clone, Copy)]
struct Loops<const LANES: usize>;

/// An [`Execute`] of a function of registers (`r`) and operands (`o`).
macro_rules! execute {
    (|$r:ident, $o:ident| $body:block) => {
        |rows, predicates, active, $o, lanes| {
            let $r = &mut Registers::<LANES> { rows, predicates, active, lanes };
            // SAFETY: the rows are there, as `LaneLoop::run` demands.
            unsafe { $body }
        }
    };
}

impl<const LANES: usize> Lanewise for Loops<LANES> {
    type Output = Execute;

    fn copy<const WORDS: u16>(self) -> Execute {
        execute!(|r, o| { mov::<WORDS, LANES>(r, o) })
    }

    fn select<A: Value>(self) -> Execute {
        execute!(|r, o| { sel::<A, LANES>(r, o) })
    }

    fn logic<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(self, _: F) -> Execute {
        // Absent sources are the row of zeros.
        execute!(|r, o| {
            let value = instance::<F>()(r.predicate(o, 0), r.predicate(o, 1), r.predicate(o, 2));
            r.set_predicate(o, value);
        })
    }

    fn unary<A: Value, R: Value, F: Fn(A) -> R + Copy + 'static>(self, _: F) -> Execute {
        execute!(|r, o| {
            let f = instance::<F>();
            if o.scalar {
                let value = f(first(r, o, 0));
                fill(r, o, value);
            } else {
                map1(r, o, f);
            }
        })
    }

    fn rounded<A: Value, R: Value, F: Fn(A, u8) -> R + Copy + 'static>(self, _: F) -> Execute {
        execute!(|r, o| {
            let (mode, f) = (o.mode, instance::<F>());
            if o.scalar {
                let value = f(first(r, o, 0), mode);
                fill(r, o, value);
            } else {
                map1(r, o, |a| f(a, mode));
            }
        })
    }

    fn binary<A: Value, B: Value, R: Value, F: Fn(A, B) -> R + Copy + 'static>(self, _: F) -> Execute {
        execute!(|r, o| {
            let f = instance::<F>();
            if o.scalar {
                let value = f(first(r, o, 0), first(r, o, 1));
                fill(r, o, value);
            } else {
                map2(r, o, f);
            }
        })
    }

    fn ternary<A: Value, B: Value, C: Value, R: Value, F>(self, _: F) -> Execute
    where
        F: Fn(A, B, C) -> R + Copy + 'static,
    {
        execute!(|r, o| {
            let f = instance::<F>();
            if o.scalar {
                let value = f(first(r, o, 0), first(r, o, 1), first(r, o, 2));
                fill(r, o, value);
            } else {
                map3(r, o, f);
            }
        })
    }

    fn relation<A: Value, F: Fn(A, A) -> bool + Copy + 'static>(self, _: F) -> Execute {
        execute!(|r, o| {
            let f = instance::<F>();
            if o.scalar {
                // 0 or 1 in a row.
                let value = f(first(r, o, 0), first(r, o, 1));
                r.fill(o.destination, u32::from(value));
            } else {
                compare(r, o, f);
            }
        })
    }
}

/// `sel`: by lane.
///
/// # Safety
/// The rows of the operands are there.
unsafe fn sel<T: Value, const LANES: usize>(r: &mut Registers<LANES>, o: &Operands) {
    // SAFETY: as the caller says.
    unsafe {
        let p = r.predicate(o, 0);
        if o.scalar {
            let value: T = fetch(r, o, if p & 1 == 1 { 1 } else { 2 }, 0)[0];
            return fill(r, o, value);
        }
        for k in 0..r.vectors() {
            let p = (p >> (k * WIDTH)) as u8;
            let (a, b) = (fetch::<T, LANES>(r, o, 1, k).map(T::words), fetch::<T, LANES>(r, o, 2, k).map(T::words));
            r.write(o.destination, k, &choose(p, &a.map(|w| w.0), &b.map(|w| w.0)));
            if T::WORDS == 2 {
                r.write(o.destination + 1, k, &choose(p, &a.map(|w| w.1), &b.map(|w| w.1)));
            }
        }
    }
}

/// Moves rows; sources of immediates, constants and scalars are rows like any other. All are read before any is written, as the
/// destination may be part of the source.
///
/// # Safety
/// The rows of the operands are there.
unsafe fn mov<const ROWS: u16, const LANES: usize>(r: &mut Registers<LANES>, o: &Operands) {
    const { assert!(ROWS <= 4) };
    let vectors = if o.scalar { 1 } else { r.vectors() };
    for k in 0..vectors {
        let mut values = [[0; WIDTH]; 4];
        // SAFETY: as the caller says.
        unsafe {
            for (row, value) in (o.sources[0]..).zip(&mut values).take(ROWS.into()) {
                *value = *r.vector(row, k);
            }
            for (row, value) in (o.destination..).zip(&values).take(ROWS.into()) {
                if o.scalar {
                    r.fill(row, value[0]);
                } else {
                    r.write(row, k, value);
                }
            }
        }
    }
}

/// Frequent conversions that the host does in one instruction, where the meaning goes through wider types.
fn shortcut<const LANES: usize>(inst: &Inst) -> Option<Execute> {
    let v = Loops::<LANES>;
    if inst.op != Op::Cvt || inst.mods.saturate {
        return None;
    }
    Some(match (inst.ty, inst.mods.from?, inst.mods.rounding) {
        (Type::F32, Type::S32, Rounding::Rn) => v.unary(|a: i32| a as f32),
        (Type::F32, Type::U32, Rounding::Rn) => v.unary(|a: u32| a as f32),
        (Type::F64, Type::F32, Rounding::Rn) => v.unary(|a: f32| f64::from(a)),
        (Type::F32, Type::F64, Rounding::Rn) => v.unary(|a: f64| a as f32),
        (Type::F64, Type::S32, Rounding::Rn) => v.unary(|a: i32| f64::from(a)),
        (Type::F64, Type::U32, Rounding::Rn) => v.unary(|a: u32| f64::from(a)),
        (Type::S8, Type::S32, Rounding::Rn) => v.unary(|a: i32| a as i8),
        (Type::S16, Type::S32, Rounding::Rn) => v.unary(|a: i32| a as i16),
        (Type::S32, Type::F32, Rounding::Rz) => v.unary(|a: f32| a as i32),
        (Type::U32, Type::F32, Rounding::Rz) => v.unary(|a: f32| a as u32),
        (Type::S32, Type::F64, Rounding::Rz) => v.unary(|a: f64| a as i32),
        _ => return None,
    })
}

/// What an instruction is; if each lane computes for itself, with what executes it in rows of so many lanes.
fn select<const LANES: usize>(inst: &Inst) -> Meaning<Option<Execute>> {
    match inst.meaning(Loops::<LANES>) {
        Meaning::Lane(run) => Meaning::Lane(run.map(|run| shortcut::<LANES>(inst).unwrap_or(run))),
        other => other,
    }
}

/// [`select`] for the usual size. Like [`any`] it is no generic function, so that its loops are compiled in this crate.
pub(super) fn usual(inst: &Inst) -> Meaning<Option<Execute>> {
    select::<USUAL>(inst)
}

/// The same for all sizes.
pub(super) fn any(inst: &Inst) -> Meaning<Option<Execute>> {
    select::<ANY>(inst)
}

/// Executes an instruction that computes nothing.
pub(super) fn nothing(_: *mut u32, _: &mut [u64; PREDICATES], _: u64, _: &Operands, _: usize) {}
