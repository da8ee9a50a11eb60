//! Accesses whose addresses the address-generation unit makes from the global ids (G5–G7), as [`heddle_llvm_passes::global_id`] found them.
//!
//! The rules' example (G-ex1) is `tests/lit/surfaces/example.cl`. The address arithmetic of such an access is not asked for; what nothing else uses of it is removed as dead code. The uniform part is computed on the scalar
//! unit: once on entry if it is made of arguments, sizes and work-group ids, else once a block.

use heddle_llvm_passes::global_id::{Access, Poly, Symbol, View};
use heddle_llvm_passes::ir::{self, Value};
use heddle_llvm_passes::surfaces::Kind;

use super::address::{Address, Root};
use super::{Remark, Selector};
use heddle_isa::surface::{LaunchExpression, LaunchValue, Surface, SurfaceKind};
use heddle_isa::{MemorySpace, Op, Operand, Special, SurfacePlace, Type};

impl Selector<'_> {
    /// The place of an access on its surface; `None` if it keeps its arithmetic.
    pub(super) fn surface_address(&mut self, i: Value) -> Option<Address> {
        let Access { view, distance, uniform } = self.global_ids.accesses.get(&i)?.clone();
        // An access of up to four pieces may need three more surfaces.
        if self.is_scalar(i) || self.f.surfaces.len() + 4 > self.most_surfaces {
            return None;
        }
        let view = self.global_ids.views[view].clone();
        let space = match ir::params(self.value)[view.argument as usize].address_space() {
            4 => MemorySpace::Constant,
            _ => MemorySpace::Global,
        };
        let surface = self.surface_of(&view)?;
        let uniform = if uniform.0.is_empty() { None } else { Some(self.uniform_bytes(&uniform)) };
        let root = Root::Surface(SurfacePlace { surface, distance });
        Some(Address { space, root, uniform, varying: None, immediate: 0 })
    }

    /// What happened to each access of global and constant memory, in order of the code.
    pub(super) fn remarks(&self) -> Vec<Remark> {
        let mut result = Vec::new();
        for i in ir::blocks(self.value).into_iter().flat_map(|b| b.instructions()) {
            let (passed, message) = match self.global_ids.accesses.get(&i) {
                Some(_) if self.is_scalar(i) => (false, "all work-items of a warp access the same place".to_string()),
                Some(Access { distance: [x, y, z], uniform, .. }) => {
                    let offset = if uniform.0.is_empty() { String::new() } else { format!(" + {uniform} bytes") };
                    (true, format!("address made of the global ids: ({x}, {y}, {z}){offset}"))
                }
                None => match self.global_ids.refused.iter().find(|r| r.0 == i) {
                    Some((_, refusal)) => (false, refusal.to_string()),
                    None => continue,
                },
            };
            let (file, line, column) = super::source_position(i);
            result.push(Remark { passed, function: self.f.name.clone(), file, line, column, message });
        }
        result
    }

    /// The number of the surface of a view.
    fn surface_of(&mut self, view: &View) -> Option<u8> {
        let kind = match view.kind {
            Kind::TypedBuffer => SurfaceKind::TypedBuffer,
            Kind::RawBuffer => SurfaceKind::RawBuffer,
            Kind::TypedUav => SurfaceKind::TypedUav,
            Kind::UntypedUav | Kind::TypedImage | Kind::Unused => SurfaceKind::UntypedUav,
        };
        let [x, y, z] = &view.strides;
        let strides = [self.launch_expression(x)?, self.launch_expression(y)?, self.launch_expression(z)?];
        let base = self.launch_expression(&view.base)?;
        Some(self.add_surface(Surface { argument: view.argument, kind, strides, base }))
    }

    pub(super) fn add_surface(&mut self, surface: Surface) -> u8 {
        let surfaces = &mut self.f.surfaces;
        let number = surfaces.iter().position(|s| *s == surface).unwrap_or_else(|| {
            surfaces.push(surface);
            surfaces.len() - 1
        });
        number as u8
    }

    /// The surface that starts some bytes further.
    pub(super) fn shifted_surface(&mut self, number: u8, bytes: u32) -> u8 {
        if bytes == 0 {
            return number;
        }
        let mut surface = self.f.surfaces[usize::from(number)].clone();
        surface.base = surface.base.plus(bytes);
        self.add_surface(surface)
    }

    fn launch_expression(&self, p: &Poly) -> Option<LaunchExpression> {
        let value = |s: &Symbol| match self.symbol_operand(*s)? {
            Operand::Constant(c) => Some(LaunchValue::Constant(c)),
            Operand::Special(s) => Some(LaunchValue::Special(s)),
            _ => None,
        };
        let term = |(m, c): (&Vec<Symbol>, &u32)| Some((*c, m.iter().map(value).collect::<Option<Vec<_>>>()?));
        Some(LaunchExpression { terms: p.0.iter().map(term).collect::<Option<_>>()? })
    }

    /// Where a symbol that is no value of the program can be read.
    fn symbol_operand(&self, s: Symbol) -> Option<Operand> {
        use Special::*;
        let of = |all: [Special; 3], d: u8| Some(Operand::Special(all[usize::from(d.min(2))]));
        match s {
            Symbol::Size(d) => of([GlobalSizeX, GlobalSizeY, GlobalSizeZ], d),
            Symbol::GroupSize(d) => of([EnqueuedLocalSizeX, EnqueuedLocalSizeY, EnqueuedLocalSizeZ], d),
            Symbol::Groups(d) => of([NumGroupsX, NumGroupsY, NumGroupsZ], d),
            Symbol::Offset(d) => of([GlobalOffsetX, GlobalOffsetY, GlobalOffsetZ], d),
            Symbol::Group(d) => of([GroupIdX, GroupIdY, GroupIdZ], d),
            Symbol::Argument(i) => {
                let param = ir::params(self.value)[i as usize];
                self.arguments.get(&param).map(|offset| Operand::Constant((offset / 4) as u8))
            }
            Symbol::Id(_) | Symbol::Uniform(_) | Symbol::Iteration(_) => None,
        }
    }

    /// A uniform number of bytes in a scalar register or the constant bank.
    fn uniform_bytes(&mut self, p: &Poly) -> Operand {
        let fixed = !p.0.keys().flatten().any(|s| matches!(s, Symbol::Uniform(_)));
        let known = if fixed && self.in_loop { &self.uniform_on_entry } else { &self.uniform_here };
        if let Some(op) = known.get(p) {
            return *op;
        }
        if fixed && self.in_loop {
            // Before what ends the entry block.
            let entry = self.f.layout[0];
            let insts = &mut self.f.blocks[entry].insts;
            let at = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
            let end = insts.split_off(at);
            let here = std::mem::replace(&mut self.current, entry);
            let op = self.sum(p);
            self.current = here;
            self.f.blocks[entry].insts.extend(end);
            self.uniform_on_entry.insert(p.clone(), op);
            return op;
        }
        let op = self.sum(p);
        self.uniform_here.insert(p.clone(), op);
        op
    }

    fn sum(&mut self, p: &Poly) -> Operand {
        let mut sum: Option<Operand> = None;
        for (monomial, &c) in &p.0 {
            let mut product: Option<Operand> = None;
            for &s in monomial {
                let factor = match s {
                    Symbol::Uniform(v) => {
                        let word = self.low_word(v);
                        self.to_scalar_word(word)
                    }
                    other => self.symbol_operand(other).unwrap_or(Operand::Immediate(0)),
                };
                product = Some(match product {
                    None => factor,
                    Some(p) => self.scalar32(Op::Mul, p, factor),
                });
            }
            sum = Some(match (product, sum) {
                (None, None) => Operand::Immediate(c),
                (None, Some(s)) => self.scalar32(Op::Add, s, Operand::Immediate(c)),
                (Some(p), None) if c == 1 => p,
                (Some(p), Some(s)) if c == 1 => self.scalar32(Op::Add, s, p),
                (Some(p), Some(s)) if c == u32::MAX => self.scalar32(Op::Sub, s, p),
                (Some(p), None) if c.is_power_of_two() => self.scalar32(Op::Shl, p, Operand::Immediate(c.trailing_zeros())),
                (Some(p), s) => {
                    let scaled = self.scalar32(Op::Mul, p, Operand::Immediate(c));
                    s.map_or(scaled, |s| self.scalar32(Op::Add, s, scaled))
                }
            });
        }
        let sum = sum.unwrap_or(Operand::Immediate(0));
        self.to_scalar_word(sum)
    }

    /// As a base of an address: a scalar register or a word of the constant bank.
    fn to_scalar_word(&mut self, op: Operand) -> Operand {
        match op {
            Operand::Constant(_) => op,
            other => self.to_scalar(other, 1),
        }
    }

    fn scalar32(&mut self, op: Op, a: Operand, b: Operand) -> Operand {
        self.emit(op, Type::B32, heddle_mir::RegClass::scalar(1), [a, b])
    }
}
