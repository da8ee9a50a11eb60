//! Loads and stores as LLVM IR.
//!
//! An access first asks whether it is of a frequent form: lanes one behind the other (one vector access), all
//! lanes at one place (one scalar access), or all within one allocation (gather and scatter). Lanes that access
//! one variable of private memory access a row. What fits no form, and every fault, goes to the interpreter's
//! function for the instruction, which finds the allocation and reports.
//!
//! An access takes 64 bits at a time where it can: so it has what other host threads store at once. What is
//! narrower than 32 bits is gathered with the word that contains it: an aligned word is on the page of each
//! of its bytes, so that it can be read. Narrow scattered stores go lane by lane ([`Translator::each_lane`]),
//! but in private memory, where a word is one lane's.

use inkwell::llvm_sys::LLVMIntPredicate::*;

use super::access::{Elements, Target};
use super::atomic::SCRATCH;
use super::build::{Elem, V, Val};
use super::translate::{Site, Translator};
use heddle_isa::Type;

/// Bytes of the host's cache lines, and how many bytes a load asks for ahead at most.
const HOST_LINE: usize = 64;
const MOST_FETCHED: usize = 256;
/// Iterations are near each other if they load less than so many bytes apart. What is further away has lines in the same places of
/// the host's caches too often.
const NEAR: u64 = 1 << 16;
/// Lanes that load or store at once where all of them would be too much code.
const CHUNK: u32 = 8;

/// What an access moves.
#[derive(Clone, Copy)]
struct Shape {
    ty: Type,
    bytes: u64,
    words: u64,
    /// Bits of an element in memory.
    bits: u32,
}

impl Shape {
    fn new(ty: Type) -> Shape {
        let words = u64::from(ty.words());
        Shape { ty, bytes: u64::from(ty.bytes()), words, bits: if words == 1 { 8 * ty.bytes() } else { 32 } }
    }

    /// Alignment of an element.
    fn align(self) -> u32 {
        self.bits / 8
    }
}

impl Translator<'_> {
    /// Translates a load; false: it has to be interpreted.
    pub(super) fn load(&self, s: &Site) -> bool {
        let b = &self.b;
        let shape = Shape::new(s.inst.ty);
        let Some(t) = self.target(s, shape.bytes) else { return false };
        let done = self.new_block();
        match t.offset {
            Val::Same(offset) => {
                let mut condition = self.good(&t, offset, shape.bytes);
                let guarded = s.inst.guard.is_some() && !s.inst.writes_scalar_register();
                if let Some(m) = s.active.filter(|_| guarded) {
                    condition = b.and(condition, b.icmp(LLVMIntNE, m, b.int(b.n, 0)));
                }
                let slow = self.form(condition, true);
                let values = if t.rows { self.load_rows(&t, offset, shape) } else { self.load_place(&t, offset, shape) };
                self.write(s, &values);
                self.next_form(done, slow);
            }
            Val::Lanes(offset) => {
                let apart = !t.rows && self.depends_on_memory(s);
                if !t.rows && (shape.words == 1 || s.active.is_none()) {
                    let gather = apart.then(|| self.form(self.neighbours(&t, offset, shape.bytes), false));
                    let (condition, first) = self.consecutive(s, &t, offset, shape.bytes);
                    let other = self.form(condition, true);
                    self.write(s, &self.load_consecutive(s, &t, first, shape));
                    self.next_form(done, other);
                    if let Some(gather) = gather {
                        self.next_form(gather, gather);
                    }
                }
                if !t.rows && !apart {
                    let first = b.lane(Val::Lanes(offset), b.int(32, 0));
                    let equal = self.everywhere(s, b.icmp(LLVMIntEQ, offset, b.splat(first)));
                    let condition = b.and(b.and(equal, self.good(&t, first, shape.bytes)), self.any(s));
                    let other = self.form(condition, false);
                    self.write(s, &self.load_place(&t, first, shape));
                    self.next_form(done, other);
                }
                let other = self.form(self.scattered(s, &t, offset, shape.bytes), true);
                self.write(s, &self.gather(s, &t, offset, shape));
                self.next_form(done, other);
            }
        }
        self.interpret(s);
        b.jump(done);
        b.at(done);
        true
    }

    /// A narrow value as a word.
    fn extended(&self, v: Val, ty: Type) -> Val {
        match ty {
            Type::S8 | Type::S16 => self.b.sext(v, Elem::I(32)),
            Type::U8 | Type::U16 => self.b.zext(v, Elem::I(32)),
            _ => v,
        }
    }

    /// One scalar load for all lanes; of two words at a time, which other work-groups may write at once.
    fn load_place(&self, t: &Target, offset: V, shape: Shape) -> Vec<Val> {
        let b = &self.b;
        let at = |k: u64| b.field(self.at(t, offset), 4 * k as usize);
        if shape.words == 1 {
            return vec![self.extended(Val::Same(b.load_device(b.elem(Elem::I(shape.bits)), at(0), shape.align())), shape.ty)];
        }
        let pair = |k: u64| self.words_of_int(Val::Same(b.load_device(b.elem(Elem::I(64)), at(2 * k), 8)), 64);
        (0..shape.words / 2).flat_map(pair).collect()
    }

    /// Rows of private memory.
    fn load_rows(&self, t: &Target, offset: V, shape: Shape) -> Vec<Val> {
        let b = &self.b;
        let row = |k: u64| {
            let row = b.load(b.vector(Elem::I(32), b.n), self.row_of(t, offset, k), 64);
            self.part_of_word(Val::Lanes(row), Val::Same(offset), shape)
        };
        (0..shape.words).map(row).collect()
    }

    /// Bits from the start of the word that contains a narrow value to the value.
    fn bits_before(&self, offset: Val) -> Val {
        let b = &self.b;
        b.apply([offset, Val::Same(b.int(32, 3)), Val::Same(b.int(32, 3))], |[o, low, eight]| b.shl(b.and(o, low), eight))
    }

    /// A narrow value out of the word that contains it.
    fn part_of_word(&self, word: Val, offset: Val, shape: Shape) -> Val {
        if shape.bytes >= 4 {
            return word;
        }
        let b = &self.b;
        let shifted = b.apply([word, self.bits_before(offset)], |[w, n]| b.lshr(w, n));
        self.extended(b.trunc(shifted, Elem::I(shape.bits)), shape.ty)
    }

    /// A word with the narrow value in it that `value` has in its low bits.
    fn word_with(&self, old: Val, value: Val, offset: Val, shape: Shape) -> Val {
        if shape.bytes >= 4 {
            return value;
        }
        let b = &self.b;
        let all = Val::Same(b.int(32, (1 << shape.bits) - 1));
        b.apply([old, value, self.bits_before(offset), all], |[old, value, n, all]| {
            let new = b.shl(b.and(value, all), n);
            b.or(b.and(old, b.not(b.shl(all, n))), new)
        })
    }

    /// One vector load. `first`: the offset of lane 0.
    fn load_consecutive(&self, s: &Site, t: &Target, first: V, shape: Shape) -> Vec<Val> {
        let (b, n) = (&self.b, self.b.n);
        let p = b.offset(t.pointer, first);
        self.fetch_ahead(s, p, shape);
        if shape.words > 1 {
            let words = shape.words as u32;
            let all = b.load_device(b.vector(Elem::I(32), n * words), p, 8);
            let word = |k: u32| Val::Lanes(b.shuffle(all, all, &(0..n).map(|i| i * words + k).collect::<Vec<_>>()));
            return (0..words).map(word).collect();
        }
        let vector = b.vector(Elem::I(shape.bits), n);
        let v = match s.active {
            None => b.load_device(vector, p, shape.align()),
            Some(m) => {
                b.compiler_fence();
                if self.host.masks(shape.bits) {
                    let nothing = b.splat(b.int(shape.bits, 0));
                    let arguments = [p, b.int(32, u64::from(shape.align())), self.active_lanes(s), nothing];
                    b.intrinsic("llvm.masked.load", &[vector, b.pointer()], &arguments)
                } else {
                    self.loaded_in_turn(m, b.offset(p, b.ramp(64, shape.bytes)), shape.bits)
                }
            }
        };
        vec![self.extended(Val::Lanes(v), shape.ty)]
    }

    /// Asks for what will most probably be loaded soon where a loop makes streams of more places than the host can see by itself:
    /// two iterations on, if they are near each other, and else by the warp after the next, whose lines of this iteration are.
    /// (Streams of straight code the host sees; to ask for them costs more than it brings.)
    fn fetch_ahead(&self, s: &Site, p: V, shape: Shape) {
        let b = &self.b;
        let Some(last) = self.last[s.index] else { return };
        let of_warp = (shape.bytes * u64::from(b.n)) as usize;
        let here = b.address_of(p);
        let step = b.sub(here, b.load(b.elem(Elem::I(64)), last, 8));
        b.store(here, last, 8);
        let near = b.icmp(LLVMIntULT, b.add(step, b.int(64, NEAR)), b.int(64, 2 * NEAR));
        let ahead = b.select(near, b.shl(step, b.int(64, 1)), b.int(64, 2 * of_warp as u64));
        let ahead = b.offset(p, ahead);
        (0..of_warp.min(MOST_FETCHED)).step_by(HOST_LINE).for_each(|at| b.prefetch(b.field(ahead, at)));
    }

    /// Elements of `bits` bits from where the pointers of these lanes lead.
    fn loaded_in_turn(&self, lanes: V, p: V, bits: u32) -> V {
        let (b, element) = (&self.b, Elem::I(bits));
        let results = self.scratch[SCRATCH - 1];
        self.each_of(Some(lanes), &[b.addresses_of(p)], |lane, of_lane| {
            let v = b.load_device(b.elem(element), b.pointer_to(of_lane[0]), bits / 8);
            b.store(v, b.element(results, element, lane), bits / 8);
        });
        b.load(b.vector(element, b.n), results, 64)
    }

    /// Lanes' elements, of `bits` bits, of all lanes or of these. There is an element at offset 0, too.
    pub(super) fn gathered(&self, lanes: Option<V>, e: &Elements, bits: u32) -> V {
        let (b, element) = (&self.b, Elem::I(bits));
        let vector = b.vector(element, b.n);
        let at_once = if lanes.is_some() { self.host.scatters } else { self.host.gathers_all };
        if at_once {
            let (p, nothing) = (self.pointers(e), b.splat(b.int(bits, 0)));
            let lanes = b.mask_to_lanes(lanes.unwrap_or_else(|| self.all()));
            let arguments = [p, b.int(32, u64::from(bits / 8)), lanes, nothing];
            return b.intrinsic("llvm.masked.gather", &[vector, b.type_of(p)], &arguments);
        }
        // All lanes load, those that are not asked for at offset 0: no branch waits for lanes, and many lines are on their way
        // at once.
        let of_offset = b.element_of(e.offset);
        let offset = match lanes {
            Some(m) => b.select(b.mask_to_lanes(m), e.offset, b.splat(b.int(8 * of_offset.bytes(), 0))),
            None => e.offset,
        };
        let load = |offset: V| {
            let at = b.offset(e.base, b.resize(offset, 64));
            b.load_device(b.elem(element), at, bits / 8)
        };
        let place = |k: u32| b.int(32, u64::from(k));
        if e.scattered || b.n <= CHUNK {
            let one = |v: V, k: u32| b.insert(v, load(b.lane(Val::Lanes(offset), place(k))), place(k));
            return (0..b.n).fold(b.any(vector), one);
        }
        // A loop over a few lanes at a time, which is less to compile.
        let (offsets, results) = (self.scratch[0], self.scratch[SCRATCH - 1]);
        b.store(offset, offsets, 64);
        self.for_each_chunk(|first| {
            let (from, to) = (b.element(offsets, of_offset, first), b.element(results, element, first));
            let one = |v: V, k: u32| {
                let at = b.field(from, (k * of_offset.bytes()) as usize);
                b.insert(v, load(b.load(b.elem(of_offset), at, of_offset.bytes())), place(k))
            };
            let chunk = (0..CHUNK).fold(b.any(b.vector(element, CHUNK)), one);
            b.store(chunk, to, CHUNK * bits / 8);
        });
        b.load(vector, results, 64)
    }

    /// Elements, of `bits` bits, to the places of all lanes or of these, in their order.
    fn scattered_to(&self, lanes: Option<V>, v: V, e: &Elements, bits: u32) {
        let b = &self.b;
        if self.host.scatters || lanes.is_none() && (e.scattered || !self.large || b.n <= CHUNK) {
            let p = self.pointers(e);
            let lanes = b.mask_to_lanes(lanes.unwrap_or_else(|| self.all()));
            let arguments = [v, p, b.int(32, u64::from(bits / 8)), lanes];
            b.intrinsic("llvm.masked.scatter", &[b.type_of(v), b.type_of(p)], &arguments);
            return;
        }
        let store = |offset: V, v: V| b.store_device(v, b.offset(e.base, b.resize(offset, 64)), bits / 8);
        if lanes.is_some() {
            return self.each_of(lanes, &[e.offset, v], |_, of_lane| store(of_lane[0], of_lane[1]));
        }
        // A loop over a few lanes at a time, which is less to compile.
        let [offsets, values, ..] = self.scratch;
        b.store(e.offset, offsets, 64);
        b.store(v, values, 64);
        self.for_each_chunk(|first| {
            let lane = |place: V, of: V, k: u32| {
                let element = b.element_of(of);
                let at = b.field(b.element(place, element, first), (k * element.bytes()) as usize);
                b.load(b.elem(element), at, element.bytes())
            };
            (0..CHUNK).for_each(|k| store(lane(offsets, e.offset, k), lane(values, v, k)));
        });
    }

    /// A loop over a few lanes at a time; `body` is told the first of them.
    fn for_each_chunk(&self, body: impl FnOnce(V)) {
        let b = &self.b;
        b.store(b.int(64, 0), self.first_of_chunk, 8);
        let (head, done) = (self.new_block(), self.new_block());
        b.jump(head);
        b.at(head);
        let first = b.load(b.elem(Elem::I(64)), self.first_of_chunk, 8);
        body(first);
        let next = b.add(first, b.int(64, u64::from(CHUNK)));
        b.store(next, self.first_of_chunk, 8);
        b.branch(b.icmp(LLVMIntULT, next, b.int(64, u64::from(b.n))), head, done);
        b.at(done);
    }

    /// Each lane's value from its own place.
    fn gather(&self, s: &Site, t: &Target, offset: V, shape: Shape) -> Vec<Val> {
        let b = &self.b;
        if !t.rows {
            b.compiler_fence();
        }
        let apart = self.depends_on_memory(s);
        let gathered = |e: Elements, bits: u32| {
            let e = Elements { scattered: e.scattered || apart, ..e };
            Val::Lanes(self.gathered(s.active, &e, bits))
        };
        if shape.bytes < 4 {
            let (e, offset) = self.containing(t, offset);
            return vec![self.part_of_word(gathered(e, 32), Val::Lanes(offset), shape)];
        }
        if shape.words == 1 || t.rows {
            return (0..shape.words).map(|k| gathered(self.elements(t, offset, k), 32)).collect();
        }
        let pair = |k: u64| self.words_of_int(gathered(self.elements(t, offset, 2 * k), 64), 64);
        (0..shape.words / 2).flat_map(pair).collect()
    }

    /// The words that contain narrow values, and where those are in memory, as far as it decides the place in
    /// the word.
    fn containing(&self, t: &Target, offset: V) -> (Elements, V) {
        let b = &self.b;
        let clear = |v: V| b.and(v, b.splat(b.int(32, !3 & 0xffff_ffff)));
        if t.rows {
            return (self.elements(t, clear(offset), 0), offset);
        }
        // The base may stand at any byte of a word.
        let skew = b.and(b.address_of(t.pointer), b.int(64, 3));
        let pointer = b.offset(t.pointer, b.sub(b.int(64, 0), skew));
        let offset = b.add(offset, b.splat(b.resize(skew, 32)));
        (self.elements(&Target { pointer, ..*t }, clear(offset), 0), offset)
    }

    /// Translates a store; false: it has to be interpreted.
    pub(super) fn store(&self, s: &Site) -> bool {
        let b = &self.b;
        let shape = Shape::new(s.inst.ty);
        let Some(t) = self.target(s, shape.bytes) else { return false };
        let done = self.new_block();
        let data: Vec<Val> = (0..shape.words).map(|k| self.word(s, 2, k as u8)).collect();
        match t.offset {
            Val::Same(offset) => {
                let condition = b.and(self.good(&t, offset, shape.bytes), self.any(s));
                let other = self.form(condition, true);
                if t.rows {
                    self.store_rows(s, &t, offset, shape, &data);
                } else {
                    self.store_place(s, &t, offset, shape, &data);
                }
                self.next_form(done, other);
            }
            Val::Lanes(offset) => {
                let data: Vec<V> = data.into_iter().map(|v| b.lanes(v)).collect();
                let apart = !t.rows && self.depends_on_memory(s);
                if !t.rows && (shape.words == 1 || s.active.is_none()) {
                    let scatter = apart.then(|| self.form(self.neighbours(&t, offset, shape.bytes), false));
                    let (condition, first) = self.consecutive(s, &t, offset, shape.bytes);
                    let other = self.form(condition, true);
                    self.store_consecutive(s, &t, first, shape, &data);
                    self.next_form(done, other);
                    if let Some(scatter) = scatter {
                        self.next_form(scatter, scatter);
                    }
                }
                let other = self.form(self.scattered(s, &t, offset, shape.bytes), true);
                self.scatter(s, &t, offset, shape, &data);
                self.next_form(done, other);
            }
        }
        self.interpret(s);
        b.jump(done);
        b.at(done);
        true
    }

    /// A word cut to what is stored.
    fn cut(&self, v: Val, shape: Shape) -> V {
        let (Val::Same(v) | Val::Lanes(v)) = if shape.bits < 32 { self.b.trunc(v, Elem::I(shape.bits)) } else { v };
        v
    }

    /// All lanes write one place, in their order: the last one's value stays.
    fn store_place(&self, s: &Site, t: &Target, offset: V, shape: Shape, data: &[Val]) {
        let b = &self.b;
        let last = match s.active {
            None => b.int(32, u64::from(b.n - 1)),
            Some(m) => {
                let leading = b.intrinsic_of("llvm.ctlz", &[m, b.int(1, 0)]);
                b.resize(b.sub(b.int(b.n, u64::from(b.n - 1)), leading), 32)
            }
        };
        let word = |v: Val| Val::Same(b.lane(v, last));
        for (k, words) in data.chunks(2).enumerate() {
            let p = b.field(self.at(t, offset), 8 * k);
            match *words {
                // At once, as other work-groups may read them.
                [low, high] => b.store_device(self.cut(self.joined(word(low), word(high)), shape), p, 8),
                _ => b.store_device(self.cut(word(words[0]), shape), p, shape.align()),
            }
        }
    }

    /// Rows of private memory.
    fn store_rows(&self, s: &Site, t: &Target, offset: V, shape: Shape, data: &[Val]) {
        let b = &self.b;
        for (k, v) in data.iter().enumerate() {
            let p = self.row_of(t, offset, k as u64);
            let old = || Val::Lanes(b.load(b.vector(Elem::I(32), b.n), p, 64));
            let new = if shape.bytes < 4 { self.word_with(old(), *v, Val::Same(offset), shape) } else { *v };
            let new = b.lanes(new);
            match s.active {
                None => b.store(new, p, 64),
                Some(_) if self.host.masks_words => {
                    let arguments = [new, p, b.int(32, 64), self.active_lanes(s)];
                    b.intrinsic("llvm.masked.store", &[b.type_of(new), b.pointer()], &arguments);
                }
                // Nobody else has the warp's private memory.
                Some(_) => b.store(b.select(self.active_lanes(s), new, b.lanes(old())), p, 64),
            }
        }
    }

    /// One vector store. `first`: the offset of lane 0.
    fn store_consecutive(&self, s: &Site, t: &Target, first: V, shape: Shape, data: &[V]) {
        let (b, n) = (&self.b, self.b.n);
        let p = b.offset(t.pointer, first);
        if shape.words > 1 {
            // Two vectors of words become one of pairs; two of those one of quads.
            let weave = |x: V, y: V, chunk: u32, count: u32| {
                let places: Vec<u32> = (0..2 * count)
                    .map(|i| i / (2 * chunk) * chunk + i % chunk + if i / chunk % 2 == 1 { count } else { 0 })
                    .collect();
                b.shuffle(x, y, &places)
            };
            let pairs: Vec<V> = data.chunks(2).map(|d| weave(d[0], d[1], 1, n)).collect();
            let all = if pairs.len() == 2 { weave(pairs[0], pairs[1], 2, 2 * n) } else { pairs[0] };
            return b.store_device(all, p, 8);
        }
        let v = self.cut(Val::Lanes(data[0]), shape);
        match s.active {
            None => b.store_device(v, p, shape.align()),
            Some(m) => {
                b.compiler_fence();
                if self.host.masks(shape.bits) {
                    let arguments = [v, p, b.int(32, u64::from(shape.align())), self.active_lanes(s)];
                    b.intrinsic("llvm.masked.store", &[b.type_of(v), b.pointer()], &arguments);
                } else {
                    let e = Elements { base: p, offset: b.ramp(32, shape.bytes), low: true, scattered: false };
                    self.scattered_to(Some(m), v, &e, shape.bits);
                }
            }
        }
    }

    /// Each lane's value to its own place, in the order of the lanes.
    fn scatter(&self, s: &Site, t: &Target, offset: V, shape: Shape, data: &[V]) {
        let b = &self.b;
        let apart = self.depends_on_memory(s);
        let scatter = |v: V, e: Elements, bits: u32| {
            let e = Elements { scattered: e.scattered || apart, ..e };
            self.scattered_to(s.active, v, &e, bits);
        };
        if !t.rows {
            b.compiler_fence();
        }
        if shape.bytes < 4 {
            if t.rows {
                let (e, place) = self.containing(t, offset);
                let old = Val::Lanes(self.gathered(s.active, &e, 32));
                let new = self.word_with(old, Val::Lanes(data[0]), Val::Lanes(place), shape);
                return scatter(b.lanes(new), e, 32);
            }
            return self.each_lane(s, &[offset, data[0]], |_, of_lane| {
                let v = self.cut(Val::Same(of_lane[1]), shape);
                b.store_device(v, self.at(t, of_lane[0]), shape.align());
            });
        }
        if shape.words == 1 || t.rows {
            for (k, v) in data.iter().enumerate() {
                scatter(*v, self.elements(t, offset, k as u64), 32);
            }
            return;
        }
        for (k, pair) in data.chunks(2).enumerate() {
            let v = self.joined(Val::Lanes(pair[0]), Val::Lanes(pair[1]));
            scatter(b.lanes(v), self.elements(t, offset, 2 * k as u64), 64);
        }
    }
}
