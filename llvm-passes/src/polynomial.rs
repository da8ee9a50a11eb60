//! Polynomials modulo 2³² over what an address is made of: ids, what is known at launch, and values
//! that are the same in all work-items.
//!
//! Spelling does not matter to them: shifts, factored products and mixtures of widths become the
//! same polynomial. [`crate::global_id`] computes them, [`crate::cache_hints`] reads them.

use std::collections::BTreeMap;
use std::fmt;

use crate::ir::{BlockRef, Value};

/// What a polynomial is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// Global id in a dimension.
    Id(u8),
    /// Global size.
    Size(u8),
    /// Enqueued work-group size.
    GroupSize(u8),
    /// Number of work-groups.
    Groups(u8),
    /// Global offset.
    Offset(u8),
    /// Low word of a by-value argument of 32 or 64 bits.
    Argument(u32),
    /// Work-group id.
    Group(u8),
    /// Size of this work-group, which the last one of a dimension may have smaller than the others.
    LocalSize(u8),
    /// Low word of a value that is the same in all work-items that come here.
    Uniform(Value),
    /// Iterations done of the loop with this header; only [`crate::global_id::Offsets`] makes it.
    Iteration(BlockRef),
}

impl Symbol {
    /// Known when the kernel is launched.
    pub fn is_of_launch(self) -> bool {
        use Symbol::{Group, Id, Iteration, LocalSize, Uniform};
        !matches!(self, Id(_) | Group(_) | LocalSize(_) | Uniform(_) | Iteration(_))
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let axis = |d: u8| ['x', 'y', 'z'][usize::from(d.min(2))];
        match *self {
            Symbol::Id(d) => write!(f, "gid.{}", axis(d)),
            Symbol::Size(d) => write!(f, "gsize.{}", axis(d)),
            Symbol::GroupSize(d) => write!(f, "elsize.{}", axis(d)),
            Symbol::Groups(d) => write!(f, "ngroups.{}", axis(d)),
            Symbol::Offset(d) => write!(f, "goffset.{}", axis(d)),
            Symbol::Argument(i) => write!(f, "arg{i}"),
            Symbol::Group(d) => write!(f, "group.{}", axis(d)),
            Symbol::LocalSize(d) => write!(f, "lsize.{}", axis(d)),
            Symbol::Uniform(v) => write!(f, "%{}", v.label()),
            Symbol::Iteration(header) => write!(f, "iteration.{}", header.name()),
        }
    }
}

/// A product of symbols, sorted.
pub type Monomial = Vec<Symbol>;

/// A polynomial with coefficients modulo 2³².
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Poly(pub BTreeMap<Monomial, u32>);

/// More terms or factors than any real address has.
const MOST_TERMS: usize = 24;
const MOST_FACTORS: usize = 4;

impl Poly {
    pub(crate) fn constant(c: u32) -> Poly {
        let mut p = Poly::default();
        p.add_term(Vec::new(), c);
        p
    }
    pub(crate) fn symbol(s: Symbol) -> Poly {
        Poly([(vec![s], 1)].into())
    }
    pub(crate) fn add_term(&mut self, m: Monomial, c: u32) {
        let e = self.0.entry(m.clone()).or_default();
        *e = e.wrapping_add(c);
        if *e == 0 {
            self.0.remove(&m);
        }
    }
    pub(crate) fn plus(mut self, o: &Poly, factor: u32) -> Poly {
        o.0.iter().for_each(|(m, c)| self.add_term(m.clone(), c.wrapping_mul(factor)));
        self
    }
    pub(crate) fn scaled(&self, factor: u32) -> Poly {
        Poly::default().plus(self, factor)
    }
    pub(crate) fn times(&self, o: &Poly) -> Option<Poly> {
        let mut p = Poly::default();
        for (m, c) in &self.0 {
            for (n, d) in &o.0 {
                let mut product = m.clone();
                product.extend(n);
                product.sort_unstable();
                if product.len() > MOST_FACTORS {
                    return None;
                }
                p.add_term(product, c.wrapping_mul(*d));
            }
        }
        (p.0.len() <= MOST_TERMS).then_some(p)
    }
    /// What a symbol is multiplied by; once, where it is squared.
    pub(crate) fn coefficient(&self, symbol: Symbol) -> Poly {
        let mut result = Poly::default();
        for (monomial, &c) in &self.0 {
            if let Some(at) = monomial.iter().position(|s| *s == symbol) {
                let mut rest = monomial.clone();
                rest.remove(at);
                result.add_term(rest, c);
            }
        }
        result
    }
    /// What is the same in a whole work-group, and what depends on values of the program.
    pub fn split_fixed(&self) -> (Poly, Poly) {
        let (mut fixed, mut rest) = (Poly::default(), Poly::default());
        for (monomial, &c) in &self.0 {
            let varies = monomial.iter().any(|s| matches!(s, Symbol::Uniform(_) | Symbol::Iteration(_)));
            let part = if varies { &mut rest } else { &mut fixed };
            part.add_term(monomial.clone(), c);
        }
        (fixed, rest)
    }

    /// Whether a term has a symbol.
    pub fn mentions(&self, symbol: Symbol) -> bool {
        self.0.keys().flatten().any(|s| *s == symbol)
    }

    /// All but the constant.
    pub fn without_constant(&self) -> Poly {
        Poly(self.0.iter().filter(|(m, _)| !m.is_empty()).map(|(m, c)| (m.clone(), *c)).collect())
    }

    /// The terms without ids that are not known at launch.
    pub fn of_program(&self) -> Poly {
        let chosen = |m: &Monomial| m.iter().all(|s| !matches!(s, Symbol::Id(_))) && m.iter().any(|s| !s.is_of_launch());
        Poly(self.0.iter().filter(|(m, _)| chosen(m)).map(|(m, c)| (m.clone(), *c)).collect())
    }

    /// Operations that compute it, with a multiplication and an addition in one.
    pub fn operations(&self) -> usize {
        let of_term = |(m, _): (&Monomial, &u32)| m.len().max(1);
        // One term that is not scaled is there without an operation.
        let free = self.0.iter().any(|(m, c)| *c == 1 && !m.is_empty()) || self.as_constant().is_some();
        self.0.iter().map(of_term).sum::<usize>() - usize::from(free && !self.0.is_empty())
    }

    /// The constant, if it is one.
    pub fn as_constant(&self) -> Option<u32> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        for (i, (m, c)) in self.0.iter().enumerate() {
            let mut parts: Vec<String> = m.iter().map(Symbol::to_string).collect();
            if *c != 1 || parts.is_empty() {
                parts.insert(0, (*c as i32).to_string());
            }
            write!(f, "{}{}", if i > 0 { " + " } else { "" }, parts.join("*"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_count_multiplications_with_the_addition_behind_them() {
        let symbol = Poly::symbol;
        let (group, size) = (symbol(Symbol::Group(0)), symbol(Symbol::LocalSize(0)));
        assert_eq!(Poly::default().operations(), 0);
        assert_eq!(Poly::constant(8).operations(), 0);
        assert_eq!(group.operations(), 0);
        assert_eq!(group.scaled(4).operations(), 1);
        assert_eq!(group.times(&size).unwrap().scaled(4).operations(), 2);
        // A term without a factor is where the sum begins.
        assert_eq!(group.clone().plus(&size, 1).operations(), 1);
        assert_eq!(group.clone().plus(&size, 4).operations(), 1);
        assert_eq!(group.scaled(4).plus(&size, 8).operations(), 2);
        assert_eq!(group.scaled(4).plus(&Poly::constant(8), 1).operations(), 2);
    }

    #[test]
    fn what_a_work_group_has_in_common_is_apart_from_values_of_the_program() {
        let value = Symbol::Uniform(Value(std::ptr::null_mut()));
        let (group, counter) = (Poly::symbol(Symbol::Group(1)).scaled(4), Poly::symbol(value));
        let both = group.clone().plus(&counter, 16).plus(&Poly::constant(3), 1);
        let (fixed, rest) = both.split_fixed();
        assert_eq!(fixed, group.plus(&Poly::constant(3), 1));
        assert_eq!(rest, counter.scaled(16));
    }

    #[test]
    fn what_a_surface_gives_is_apart_from_what_the_program_adds() {
        let symbol = Poly::symbol;
        let (id, pitch, group) = (symbol(Symbol::Id(0)), symbol(Symbol::Argument(2)), symbol(Symbol::Group(1)));
        let row = group.times(&pitch).unwrap();
        let sum = id.scaled(4).plus(&pitch, 8).plus(&row, 4).plus(&Poly::constant(12), 1);
        assert_eq!(sum.of_program(), row.scaled(4));
        assert_eq!(sum.without_constant(), id.scaled(4).plus(&pitch, 8).plus(&row, 4));
        assert!(sum.mentions(Symbol::Group(1)) && !sum.mentions(Symbol::Group(0)));
    }
}
