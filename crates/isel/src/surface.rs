//! Accesses whose addresses the address-generation unit makes from the global ids (G5–G7), as
//! [`heddle_llvm_passes::global_id`] found them.
//!
//! The rules' example (G-ex1) is `tests/lit/surfaces/example.cl`. The address arithmetic of such an access is
//! not asked for; what nothing else uses of it is removed as dead code. The uniform part is computed on the
//! scalar unit: what is made of arguments, sizes and work-group ids once on entry if several blocks or a loop
//! need it, the rest once a block.

use crate::address::{Address, Root};
use crate::context::Context;
use crate::emit::Emitter;
use crate::{Selector, constant_bank};
use heddle_isa::surface::{LaunchExpression, LaunchValue, Surface, SurfaceIds, SurfaceKind};
use heddle_isa::{MemorySpace, Op, Operand, Special, SurfacePlace, Type};
use heddle_llvm_passes::ir::{SourcePosition, Value, address_space};
use heddle_mir::RegClass;
use heddle_object::metadata::ArgumentKind;

use crate::Remark;
use heddle_llvm_passes::global_id::{Access, Ids, View};
use heddle_llvm_passes::ir;
use heddle_llvm_passes::polynomial::{Poly, Symbol};
use heddle_llvm_passes::surfaces::Kind;

impl Emitter {
    pub fn add_surface(&mut self, surface: Surface) -> u8 {
        let surfaces = &mut self.f.surfaces;
        let number = surfaces.iter().position(|s| *s == surface).unwrap_or_else(|| {
            surfaces.push(surface);
            surfaces.len() - 1
        });
        number as u8
    }

    /// The surface that starts some bytes further.
    pub fn shifted_surface(&mut self, number: u8, bytes: u32) -> u8 {
        if bytes == 0 {
            return number;
        }
        let mut surface = self.f.surfaces[usize::from(number)].clone();
        surface.base = surface.base.plus(bytes);
        self.add_surface(surface)
    }
}

/// The place of an access on its surface; `None` if it keeps its arithmetic.
pub(crate) fn surface_address(s: &mut Selector, i: Value) -> Option<Address> {
    let Access { view, distance, uniform } = s.cx.global_ids.accesses.get(&i)?.clone();
    // An access of up to four pieces may need three more surfaces; images have one each in any case.
    let images = s.out.f.args.iter().filter(|a| a.kind == ArgumentKind::Image).count();
    if s.cx.is_scalar(i) || s.out.f.surfaces.len() + 4 + images > s.cx.most_surfaces() {
        return None;
    }
    let view = s.cx.global_ids.views[view].clone();
    let space = match s.cx.params[view.argument as usize].address_space() {
        address_space::CONSTANT => MemorySpace::Constant,
        _ => MemorySpace::Global,
    };
    let surface = surface_of(s, &view)?;
    let uniform = if uniform.0.is_empty() { None } else { Some(uniform_bytes(s, &uniform)) };
    let root = Root::Surface(SurfacePlace { surface, distance });
    Some(Address { space, root, uniform, varying: None, immediate: 0 })
}

/// What happened to each access of global and constant memory, in order of the code.
pub(crate) fn remarks(s: &Selector) -> Vec<Remark> {
    let mut result = Vec::new();
    for i in ir::blocks(s.cx.kernel).into_iter().flat_map(|b| b.instructions()) {
        let (passed, message) = match s.cx.global_ids.accesses.get(&i) {
            Some(_) if s.cx.is_scalar(i) => (false, "all work-items of a warp access the same place".to_string()),
            Some(Access { distance: [x, y, z], uniform, .. }) => {
                let offset = if uniform.0.is_empty() { String::new() } else { format!(" + {uniform} bytes") };
                (true, format!("address made of the global ids: ({x}, {y}, {z}){offset}"))
            }
            None => match s.cx.global_ids.refused.iter().find(|r| r.0 == i) {
                Some((_, refusal)) => (false, refusal.to_string()),
                None => continue,
            },
        };
        let SourcePosition { file, line, column } = i.source_position();
        result.push(Remark { passed, function: s.out.f.name.clone(), file, line, column, message });
    }
    result
}

/// The number of the surface of a view.
fn surface_of(s: &mut Selector, view: &View) -> Option<u8> {
    let kind = match view.kind {
        Kind::TypedBuffer => SurfaceKind::TypedBuffer,
        Kind::RawBuffer => SurfaceKind::RawBuffer,
        Kind::TypedUav => SurfaceKind::TypedUav,
        Kind::UntypedUav | Kind::TypedImage | Kind::Unused => SurfaceKind::UntypedUav,
    };
    let [x, y, z] = &view.strides;
    let strides = [launch_expression(s, x)?, launch_expression(s, y)?, launch_expression(s, z)?];
    let base = launch_expression(s, &view.base)?;
    let ids = match view.ids {
        Ids::Global => SurfaceIds::Global,
        Ids::Relative => SurfaceIds::Relative,
        Ids::Local => SurfaceIds::Local,
    };
    Some(s.out.add_surface(Surface { argument: view.argument, kind, ids, strides, base }))
}

/// A number in values of the launch, if it is made of them.
pub(crate) fn launch_expression(s: &Selector, p: &Poly) -> Option<LaunchExpression> {
    let value = |symbol: &Symbol| match symbol_operand(s, *symbol)? {
        Operand::Constant(c) => Some(LaunchValue::Constant(c)),
        Operand::Special(s) => Some(LaunchValue::Special(s)),
        _ => None,
    };
    let term = |(m, c): (&Vec<Symbol>, &u32)| Some((*c, m.iter().map(value).collect::<Option<Vec<_>>>()?));
    Some(LaunchExpression { terms: p.0.iter().map(term).collect::<Option<_>>()? })
}

/// Where a symbol that is no value of the program can be read.
fn symbol_operand(s: &Selector, symbol: Symbol) -> Option<Operand> {
    use Special::*;
    let of = |all: [Special; 3], d: u8| Some(Operand::Special(all[usize::from(d.min(2))]));
    match symbol {
        Symbol::Size(d) => of([GlobalSizeX, GlobalSizeY, GlobalSizeZ], d),
        Symbol::GroupSize(d) => of([EnqueuedLocalSizeX, EnqueuedLocalSizeY, EnqueuedLocalSizeZ], d),
        Symbol::Groups(d) => of([NumGroupsX, NumGroupsY, NumGroupsZ], d),
        Symbol::Offset(d) => of([GlobalOffsetX, GlobalOffsetY, GlobalOffsetZ], d),
        Symbol::LocalSize(d) => of([LocalSizeX, LocalSizeY, LocalSizeZ], d),
        Symbol::Group(d) => of([GroupIdX, GroupIdY, GroupIdZ], d),
        Symbol::Argument(i) => {
            let param = s.cx.params[i as usize];
            s.arguments.offsets.get(&param).and_then(|offset| constant_bank::named(*offset, 1))
        }
        Symbol::Id(_) | Symbol::Uniform(_) | Symbol::Iteration(_) => None,
    }
}

/// A uniform number of bytes in a scalar register or the constant bank.
fn uniform_bytes(s: &mut Selector, p: &Poly) -> Operand {
    if let Some(op) = s.addresses.uniform_here.get(p) {
        return *op;
    }
    let (fixed, changing) = p.split_fixed();
    let start = match fixed.0.is_empty() {
        true => None,
        false => Some(fixed_bytes(s, &fixed)),
    };
    let op = if changing.0.is_empty() && start.is_some() { start } else { sum(s, &changing, start) };
    let op = op.unwrap_or(Operand::Immediate(0));
    let op = s.out.scalar_word(op);
    s.addresses.uniform_here.insert(p.clone(), op);
    op
}

/// What is the same in the whole work-group: computed on entry if it is needed in several blocks, or in a loop.
fn fixed_bytes(s: &mut Selector, p: &Poly) -> Operand {
    if let Some(op) = s.addresses.uniform_on_entry.get(p) {
        return *op;
    }
    if !s.out.pool.in_loop && !s.cx.shared_bytes.contains(p) {
        return sum(s, p, None).unwrap_or(Operand::Immediate(0));
    }
    let here = s.out.enter_entry();
    let op = sum(s, p, None).unwrap_or(Operand::Immediate(0));
    s.out.leave_entry(here);
    s.addresses.uniform_on_entry.insert(p.clone(), op);
    op
}

/// A number plus the value of a polynomial, on the scalar unit; `None` if there is neither.
fn sum(s: &mut Selector, p: &Poly, start: Option<Operand>) -> Option<Operand> {
    let mut sum = start;
    // A term that is not scaled needs no operation if it comes first.
    let plain = |c: u32, m: &[Symbol]| c == 1 && !m.is_empty();
    let mut terms: Vec<(Vec<Symbol>, u32)> = p.0.iter().map(|(m, c)| (m.clone(), *c)).collect();
    terms.iter_mut().for_each(|(m, _)| m.sort_by_key(|symbol| place(&s.cx, *symbol)));
    let places = |m: &[Symbol]| m.iter().map(|symbol| place(&s.cx, *symbol)).collect::<Vec<_>>();
    terms.sort_by_cached_key(|(m, c)| (!plain(*c, m), places(m)));
    for (monomial, c) in terms {
        let product = product(s, &monomial);
        let out = &mut s.out;
        sum = Some(match (product, sum) {
            (None, None) => Operand::Immediate(c),
            (None, Some(sum)) => out.scalar32(Op::Add, sum, Operand::Immediate(c)),
            (Some(p), None) if c == 1 => p,
            (Some(p), Some(sum)) if c == 1 => out.scalar32(Op::Add, sum, p),
            (Some(p), Some(sum)) if c == u32::MAX => out.scalar32(Op::Sub, sum, p),
            (Some(p), None) if c.is_power_of_two() => out.scalar32(Op::Shl, p, Operand::Immediate(c.trailing_zeros())),
            (Some(p), None) => out.scalar32(Op::Mul, p, Operand::Immediate(c)),
            (Some(p), Some(sum)) => out.emit(Op::Mad, Type::B32, RegClass::scalar(1), [p, Operand::Immediate(c), sum]),
        });
    }
    sum
}

/// The place of a symbol among others: their own order, but of values that of the code, and not that of their addresses.
fn place(cx: &Context, symbol: Symbol) -> (u8, u32) {
    match symbol {
        Symbol::Id(d) => (0, d.into()),
        Symbol::Size(d) => (1, d.into()),
        Symbol::GroupSize(d) => (2, d.into()),
        Symbol::Groups(d) => (3, d.into()),
        Symbol::Offset(d) => (4, d.into()),
        Symbol::Argument(i) => (5, i),
        Symbol::Group(d) => (6, d.into()),
        Symbol::LocalSize(d) => (7, d.into()),
        Symbol::Uniform(v) => (8, cx.number(v)),
        Symbol::Iteration(header) => (9, cx.number(header.terminator())),
    }
}

/// The product of a monomial's symbols; `None` if it has none.
fn product(s: &mut Selector, monomial: &[Symbol]) -> Option<Operand> {
    let mut product: Option<Operand> = None;
    for &symbol in monomial {
        let factor = match symbol {
            Symbol::Uniform(v) => {
                let word = s.low_word(v);
                s.out.scalar_word(word)
            }
            Symbol::Argument(i) => {
                let offset = s.arguments.offset(s.cx.params[i as usize]);
                let word = s.out.bank_words_on_entry(offset, 1);
                s.out.scalar_word(word)
            }
            other => symbol_operand(s, other).unwrap_or(Operand::Immediate(0)),
        };
        product = Some(match product {
            None => factor,
            Some(p) => s.out.scalar32(Op::Mul, p, factor),
        });
    }
    product
}
