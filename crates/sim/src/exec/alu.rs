//! Lane loops of the operations whose meaning is a function of one lane's operands ([`heddle_isa::meaning`]), and the
//! choice of the function that executes an instruction.

use super::{Decoded, Execute, Lanes, access, all_lanes, texture};
use heddle_isa::meaning::{Lanewise, Value};
use heddle_isa::{CrossLane, Inst, Meaning, MemoryAction, Op, Rounding, Type};

/// Lane `lane` of a source.
#[inline(always)]
fn get<T: Value, const N: usize>(low: &[u32; N], high: &[u32; N], lane: usize) -> T {
    T::from_words(low[lane], if T::WORDS == 2 { high[lane] } else { 0 })
}

/// Reads a source into an array of lanes.
#[inline(always)]
fn fetch<T: Value, const N: usize>(l: &Lanes<N>, d: &Decoded<N>, i: usize) -> [T; N] {
    let low = l.row(d.src[i]);
    let high = if T::WORDS == 2 { l.row(d.src[i] + 1) } else { low };
    let mut out = [T::default(); N];
    for (lane, o) in out.iter_mut().enumerate() {
        *o = get(low, high, lane);
    }
    out
}

/// Lane 0 of a source.
#[inline(always)]
fn first<T: Value, const N: usize>(l: &Lanes<N>, d: &Decoded<N>, i: usize) -> T {
    let low = l.row(d.src[i]);
    let high = if T::WORDS == 2 { l.row(d.src[i] + 1) } else { low };
    get(low, high, 0)
}

/// Writes lanes back: lane 0 everywhere for scalar instructions, else the active lanes.
#[inline(always)]
fn store<T: Value, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, values: &[T; N]) {
    if d.scalar {
        let (low, high) = values[0].words();
        *l.row_mut(d.dst) = [low; N];
        if T::WORDS == 2 {
            *l.row_mut(d.dst + 1) = [high; N];
        }
        return;
    }
    let mask = l.active(d);
    let mut low = [0; N];
    for (o, v) in low.iter_mut().zip(values) {
        *o = v.words().0;
    }
    blend(l.row_mut(d.dst), &low, mask);
    if T::WORDS == 2 {
        let mut high = [0; N];
        for (o, v) in high.iter_mut().zip(values) {
            *o = v.words().1;
        }
        blend(l.row_mut(d.dst + 1), &high, mask);
    }
}

#[inline(always)]
pub(super) fn blend<const N: usize>(row: &mut [u32; N], values: &[u32; N], mask: u64) {
    if mask == all_lanes(N) {
        *row = *values;
        return;
    }
    // In words as wide as a lane, for which hosts have masked moves.
    for (k, (row, values)) in row.chunks_mut(32).zip(values.chunks(32)).enumerate() {
        let mask = (mask >> (32 * k)) as u32;
        for (lane, (r, v)) in row.iter_mut().zip(values).enumerate() {
            *r = if mask & 1 << lane != 0 { *v } else { *r };
        }
    }
}

#[inline(always)]
fn map1<A: Value, R: Value, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A) -> R) {
    let mut r = [R::default(); N];
    if d.scalar {
        r[0] = f(first(l, d, 0));
        return store(l, d, &r);
    }
    let a: [A; N] = fetch(l, d, 0);
    for (r, a) in r.iter_mut().zip(&a) {
        *r = f(*a);
    }
    store(l, d, &r);
}

#[inline(always)]
fn map2<A: Value, B: Value, R: Value, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A, B) -> R) {
    let mut r = [R::default(); N];
    if d.scalar {
        r[0] = f(first(l, d, 0), first(l, d, 1));
        return store(l, d, &r);
    }
    let a: [A; N] = fetch(l, d, 0);
    let b: [B; N] = fetch(l, d, 1);
    for (r, (a, b)) in r.iter_mut().zip(a.iter().zip(&b)) {
        *r = f(*a, *b);
    }
    store(l, d, &r);
}

#[inline(always)]
fn map3<A: Value, B: Value, C: Value, R: Value, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A, B, C) -> R) {
    let mut r = [R::default(); N];
    if d.scalar {
        r[0] = f(first(l, d, 0), first(l, d, 1), first(l, d, 2));
        return store(l, d, &r);
    }
    let a: [A; N] = fetch(l, d, 0);
    let b: [B; N] = fetch(l, d, 1);
    let c: [C; N] = fetch(l, d, 2);
    for (r, (a, (b, c))) in r.iter_mut().zip(a.iter().zip(b.iter().zip(&c))) {
        *r = f(*a, *b, *c);
    }
    store(l, d, &r);
}

/// Comparison into a predicate, or 0/1 into a scalar row.
#[inline(always)]
fn compare<A: Value, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>, f: impl Fn(A, A) -> bool) {
    if d.scalar {
        let r = f(first(l, d, 0), first(l, d, 1));
        *l.row_mut(d.dst) = [u32::from(r); N];
        return;
    }
    let a: [A; N] = fetch(l, d, 0);
    let b: [A; N] = fetch(l, d, 1);
    let mut bits = [0u8; N];
    for (bit, (a, b)) in bits.iter_mut().zip(a.iter().zip(&b)) {
        *bit = u8::from(f(*a, *b));
    }
    l.set_predicate(d, pack(&bits));
}

/// Bit i of the result is byte i (0 or 1).
#[inline(always)]
fn pack<const N: usize>(bits: &[u8; N]) -> u64 {
    let mut mask = 0;
    for (k, chunk) in bits.chunks_exact(8).enumerate() {
        let word = u64::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7]]);
        // Gathers the low bit of each byte into the top byte.
        mask |= (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    mask
}

/// Source `i` with its sign modifiers.
#[inline(always)]
fn modified<T: Value>(modifiers: u8, i: usize, x: T) -> T {
    x.modified(modifiers >> i & 1 == 1, modifiers >> (i + 3) & 1 == 1)
}

/// The value of a function that captures nothing.
#[inline(always)]
fn instance<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "a lane's function captures something") };
    // SAFETY: a type without bytes may be read from any aligned pointer. It is inhabited, as `Loops` was given a value
    // of it, and `Copy` says that making another is nothing special.
    unsafe { std::ptr::NonNull::<F>::dangling().as_ptr().read() }
}

/// Makes functions over all lanes of functions of one.
struct Loops<const N: usize>;

impl<const N: usize> Lanewise for Loops<N> {
    type Output = Execute<N>;

    fn copy<const WORDS: u16>(self) -> Execute<N> {
        mov::<WORDS, N>
    }

    fn select<A: Value>(self) -> Execute<N> {
        sel::<A, N>
    }

    fn logic<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(self, _: F) -> Execute<N> {
        |l, d| {
            // Absent sources are the row of zeros.
            let value = instance::<F>()(l.predicate(d, 0), l.predicate(d, 1), l.predicate(d, 2));
            l.set_predicate(d, value);
        }
    }

    fn unary<A: Value, R: Value, F: Fn(A) -> R + Copy + 'static>(self, _: F) -> Execute<N> {
        |l, d| {
            let (m, f) = (d.modifiers, instance::<F>());
            if A::FLOAT && m != 0 { map1(l, d, |a| f(modified(m, 0, a))) } else { map1(l, d, f) }
        }
    }

    fn rounded<A: Value, R: Value, F: Fn(A, u8) -> R + Copy + 'static>(self, _: F) -> Execute<N> {
        |l, d| {
            let (m, mode, f) = (d.modifiers, d.mode, instance::<F>());
            map1(l, d, |a| f(modified(m, 0, a), mode))
        }
    }

    fn binary<A: Value, B: Value, R: Value, F: Fn(A, B) -> R + Copy + 'static>(self, _: F) -> Execute<N> {
        |l, d| {
            let (m, f) = (d.modifiers, instance::<F>());
            if (A::FLOAT || B::FLOAT) && m != 0 {
                map2(l, d, |a, b| f(modified(m, 0, a), modified(m, 1, b)))
            } else {
                map2(l, d, f)
            }
        }
    }

    fn ternary<A: Value, B: Value, C: Value, R: Value, F>(self, _: F) -> Execute<N>
    where
        F: Fn(A, B, C) -> R + Copy + 'static,
    {
        |l, d| {
            let (m, f) = (d.modifiers, instance::<F>());
            if (A::FLOAT || B::FLOAT || C::FLOAT) && m != 0 {
                map3(l, d, |a, b, c| f(modified(m, 0, a), modified(m, 1, b), modified(m, 2, c)))
            } else {
                map3(l, d, f)
            }
        }
    }

    fn relation<A: Value, F: Fn(A, A) -> bool + Copy + 'static>(self, _: F) -> Execute<N> {
        |l, d| {
            let (m, f) = (d.modifiers, instance::<F>());
            if A::FLOAT && m != 0 { compare(l, d, |a, b| f(modified(m, 0, a), modified(m, 1, b))) } else { compare(l, d, f) }
        }
    }
}

/// `sel`: by lane.
fn sel<T: Value, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let p = l.predicate(d, 0);
    let a: [T; N] = fetch(l, d, 1);
    let b: [T; N] = fetch(l, d, 2);
    let mut r = [T::default(); N];
    for (i, (r, (a, b))) in r.iter_mut().zip(a.iter().zip(&b)).enumerate() {
        *r = if p >> i & 1 == 1 { *a } else { *b };
    }
    store(l, d, &r);
}

/// Moves `rows` rows; sources of immediates, constants and scalars are rows like any other.
fn mov<const ROWS: u16, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let mask = l.active(d);
    let values: [[u32; N]; 4] = std::array::from_fn(|k| if (k as u16) < ROWS { *l.row(d.src[0] + k as u16) } else { [0; N] });
    for k in 0..ROWS {
        let v = &values[k as usize];
        if d.scalar {
            *l.row_mut(d.dst + k) = [v[0]; N];
        } else {
            blend(l.row_mut(d.dst + k), v, mask);
        }
    }
}

fn take_first<const ROWS: u16, const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let lane = (l.mask.trailing_zeros() as usize).min(N - 1);
    for k in 0..ROWS {
        let v = l.row(d.src[0] + k)[lane];
        *l.row_mut(d.dst + k) = [v; N];
    }
}

fn ballot<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let v = l.predicate(d, 0) & l.mask;
    *l.row_mut(d.dst) = [v as u32; N];
    *l.row_mut(d.dst + 1) = [(v >> 32) as u32; N];
}

fn shuffle<const N: usize>(l: &mut Lanes<N>, d: &Decoded<N>) {
    let a = *l.row(d.src[0]);
    map2(l, d, |_: u32, b: u32| a[b as usize % N]);
}

/// Frequent conversions that the host does in one instruction, where the meaning goes through wider types.
fn shortcut<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    let v = Loops::<N>;
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

/// The function that executes an instruction; `None` if it has a type or modifiers without a meaning.
pub(super) fn select<const N: usize>(inst: &Inst) -> Option<Execute<N>> {
    match inst.meaning(Loops::<N>) {
        Meaning::Lane(run) => run.map(|run| shortcut(inst).unwrap_or(run)),
        Meaning::CrossLane(CrossLane::First) => match inst.ty.words() {
            1 => Some(take_first::<1, N>),
            2 => Some(take_first::<2, N>),
            _ => None,
        },
        Meaning::CrossLane(CrossLane::Ballot) => Some(ballot),
        Meaning::CrossLane(CrossLane::Shuffle) => Some(shuffle),
        Meaning::Memory(MemoryAction::Load) => access::select_load(inst),
        Meaning::Memory(MemoryAction::Store) => access::select_store(inst),
        Meaning::Memory(MemoryAction::Atomic) => access::select_atomic(inst),
        Meaning::Memory(MemoryAction::Fence) => Some(fence),
        Meaning::Memory(MemoryAction::ReadImage) => texture::select_read(inst),
        Meaning::Memory(MemoryAction::WriteImage) => texture::select_write(inst),
        Meaning::Memory(MemoryAction::CacheControl) => Some(access::select_control(inst)),
        // What ends a block is the front end's; the others change no value.
        Meaning::Control => Some(|_, _| ()),
        Meaning::Pseudo => None,
    }
}

/// Memory is in program order within a warp, and the host's atomics order the rest.
fn fence<const N: usize>(l: &mut Lanes<N>, _: &Decoded<N>) {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    if let Some(checker) = l.checker {
        checker.borrow_mut().fence();
    }
}
