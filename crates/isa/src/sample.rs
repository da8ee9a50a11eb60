//! Random valid instructions over the whole table, for round-trip and semantics tests.
//!
//! Every field is drawn at random among what the table row allows; what [`super::rules`] refuses is drawn
//! again. Deterministic in the generator's state. Test support: nothing in the compiler uses it.

use rand::Rng;
use strum::IntoEnumIterator;

use super::inst::{Guard, ImageAccess, Inst, Operand, PhysReg, Reg, Targets};
use super::rules;
use super::table::{Op, Role};
use super::types::{
    AddressMode, AtomicOp, CacheName, CacheOperation, CachePolicy, Cond, MemorySpace, Rounding, Space, Special, Type,
};

/// All pairs of an encodable operation and one of its types.
pub fn operations() -> Vec<(Op, Type)> {
    Op::iter().filter(|o| !o.info().flags.pseudo).flat_map(|o| o.info().types.iter().map(move |t| (o, *t))).collect()
}

/// A random valid instruction of an operation at a type, over physical registers.
pub fn instruction(op: Op, ty: Type, rng: &mut impl Rng) -> Inst {
    loop {
        let inst = draw(op, ty, rng);
        if rules::check(&inst, None).is_ok() {
            return inst;
        }
    }
}

fn pick<T>(items: impl Iterator<Item = T>, rng: &mut impl Rng) -> T {
    let mut items: Vec<T> = items.collect();
    let i = rng.random_range(0..items.len());
    items.swap_remove(i)
}

fn draw(op: Op, ty: Type, rng: &mut impl Rng) -> Inst {
    let info = op.info();
    let flags = info.flags;
    let mut inst = Inst::new(op, ty, Operand::None, []);
    inst.cluster = rng.random_range(0..8);
    if op == Op::BraDivergent || rng.random_bool(0.3) {
        let reg = Reg::Physical(PhysReg { space: Space::Predicate, index: rng.random_range(0..15) });
        inst.guard = Some(Guard { reg, negate: rng.random() });
    }
    inst.uniform = rng.random_bool(0.2);
    inst.strand = !flags.pseudo && rng.random_bool(0.1);
    inst.mods.cond = flags.cond.then(|| pick(Cond::iter(), rng));
    inst.mods.from = flags.from.then(|| pick(info.types.iter().copied(), rng));
    if rng.random_bool(0.4) {
        inst.mods.rounding = pick(Rounding::iter(), rng);
        inst.mods.saturate = rng.random();
    }
    if inst.is_memory() {
        inst.mods.space = Some(pick(MemorySpace::iter(), rng));
        inst.mods.address = pick(AddressMode::iter(), rng);
        inst.mods.cache = pick(CachePolicy::iter(), rng);
    }
    if inst.is_cache_control() {
        inst.mods.control = Some((pick(CacheName::iter(), rng), pick(CacheOperation::iter(), rng)));
    }
    if op == Op::Atomic {
        inst.mods.atomic = pick(AtomicOp::iter(), rng);
    }
    if inst.is_memory() && rng.random() {
        inst.imm = immediate(rng) as i32;
    } else if matches!(op, Op::Sample | Op::ImageStore) {
        let access = ImageAccess {
            surface: rng.random(),
            integer: rng.random(),
            bare: rng.random(),
            coordinates: pick([1, 2, 4].into_iter(), rng),
            channels: pick((1..16).filter(|c: &u8| c.count_ones() != 3), rng),
        };
        inst.imm = access.immediate();
    } else if flags.imm {
        inst.imm = rng.random_range(0..4);
    }
    // A scalar instruction reads scalars only, so all operands lean the same way.
    let scalar = rng.random_bool(0.3);
    if let Some(role) = info.dst.filter(|_| inst.has_destination()) {
        inst.dst = operand(&inst, role, scalar, rng);
    }
    let value = immediate(rng);
    for role in info.srcs {
        let mut source = operand(&inst, *role, scalar, rng);
        if matches!(source, Operand::Immediate(_)) {
            source = Operand::Immediate(value);
        }
        inst.srcs.push(source);
    }
    for i in 0..inst.srcs.len() {
        if inst.src_is_float(i) {
            inst.neg |= u8::from(rng.random_bool(0.3)) << i;
            inst.abs |= u8::from(rng.random_bool(0.3)) << i;
        }
        if matches!(inst.srcs[i].as_phys(), Some(PhysReg { space: Space::Main, .. })) {
            inst.release |= u8::from(rng.random_bool(0.3)) << i;
        }
    }
    let distance = |rng: &mut _| Rng::random_range(rng, -2000..2000);
    inst.targets = match op {
        Op::Bra | Op::BraScalar => Targets::Offsets { target: distance(rng), reconverge: None },
        Op::BraDivergent => {
            let reconverge = rng.random_bool(0.8).then(|| if rng.random() { distance(rng) } else { rng.random() });
            Targets::Offsets { target: distance(rng), reconverge }
        }
        _ => Targets::None,
    };
    inst
}

/// Small numbers, powers of two, floats and any bits.
fn immediate(rng: &mut impl Rng) -> u32 {
    match rng.random_range(0..4) {
        0 => rng.random_range(-64i32..64) as u32,
        1 => 1u32.rotate_left(rng.random_range(0..32)),
        2 => (rng.random_range(-100i32..100) as f32 / 8.0).to_bits(),
        _ => rng.random(),
    }
}

fn operand(inst: &Inst, role: Role, scalar: bool, rng: &mut impl Rng) -> Operand {
    let words = inst.role_words(role).max(1);
    let mut register = |space: Space, count: u8| Operand::phys(space, rng.random_range(0..count / words) * words);
    let in_file = match role {
        Role::Base | Role::ScalarCondition => register(Space::Scalar, 104),
        _ if rules::is_predicate_role(inst, role) => register(if scalar { Space::Scalar } else { Space::Predicate }, 15),
        _ if scalar => register(Space::Scalar, 104),
        _ if rng.random_bool(0.3) => Operand::phys(Space::Local, rng.random_range(0..8 / words) * words),
        _ => Operand::phys(Space::Main, (rng.random_range(0..=u8::MAX) / words) * words),
    };
    match rng.random_range(0..12) {
        0 => Operand::None,
        1 => Operand::Special(pick(Special::iter(), rng)),
        2 => Operand::Constant(rng.random()),
        3 | 4 => Operand::Immediate(0),
        _ => in_file,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::encode::{decode, encode};
    use crate::text::{Distances, parse_inst, print_inst};

    #[test]
    fn every_operation_survives_encoding_and_text() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        for (op, ty) in operations() {
            for _ in 0..200 {
                let inst = instruction(op, ty, &mut rng);
                let word = encode(&inst).unwrap();
                assert_eq!(decode(word).unwrap(), inst, "{word:#034x}");
                let text = print_inst(&inst, &[]);
                assert_eq!(parse_inst(&text, &mut Distances).unwrap(), inst, "{text}");
            }
        }
    }

    /// A valid word with some bits changed is more often nearly valid than a random one.
    fn word() -> impl Strategy<Value = u128> {
        let damaged = (any::<u64>(), prop::collection::vec(0u32..128, 0..4)).prop_map(|(seed, bits)| {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let (op, ty) = pick(operations().into_iter(), &mut rng);
            let word = encode(&instruction(op, ty, &mut rng)).unwrap();
            bits.into_iter().fold(word, |w, b| w ^ 1 << b)
        });
        prop_oneof![1 => any::<u128>(), 4 => damaged]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn decoding_gives_back_the_word_or_an_error(word in word()) {
            if let Ok(inst) = decode(word) {
                prop_assert_eq!(encode(&inst).unwrap(), word);
                let text = print_inst(&inst, &[]);
                prop_assert_eq!(&parse_inst(&text, &mut Distances).unwrap(), &inst, "{}", text);
            }
        }

        #[test]
        fn damaged_text_never_panics(
            seed in any::<u64>(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..4),
        ) {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let (op, ty) = pick(operations().into_iter(), &mut rng);
            let mut text: Vec<char> = print_inst(&instruction(op, ty, &mut rng), &[]).chars().collect();
            for (at, with) in edits {
                let i = at.index(text.len());
                let known = char::from(b"-!.,:[]|@%cmp0_ "[with as usize % 16]);
                match with as u32 % 4 {
                    0 if text.len() > 1 => { text.remove(i); }
                    1 => text.insert(i, with),
                    2 => text.insert(i, known),
                    _ => text[i] = known,
                }
            }
            let text: String = text.into_iter().collect();
            if let Err(e) = parse_inst(&text, &mut Distances) {
                prop_assert!(e.offset <= text.len());
            }
        }
    }
}
