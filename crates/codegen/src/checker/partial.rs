//! Definitions under a guard whose destination does not hold the value of the lanes that the guard leaves out.
//!
//! Such a value is in one place for some lanes and in others for the rest, until inserted code that runs under
//! the same guard, or under its opposite, brings both together.

use smallvec::SmallVec;

use super::state::Symbol;

/// A symbol that a guarded instruction has just defined.
#[derive(Clone, Debug)]
struct Partial {
    symbol: Symbol,
    /// Where it is in the lanes that the guard lets through.
    new: SmallVec<[u32; 2]>,
    /// Where it is in the others; none where those have none that is needed, so that any place will do.
    old: Option<SmallVec<[u32; 2]>>,
}

/// Under which condition lanes run: the symbol of a predicate, and whether they run where it is false.
pub type Condition = (Symbol, bool);

/// The symbols that the last original instruction defined under its guard.
#[derive(Clone, Debug, Default)]
pub struct Partials {
    guard: Option<Condition>,
    entries: SmallVec<[Partial; 2]>,
}

/// What an inserted write did to its destination.
#[derive(Clone, Copy, Debug)]
pub enum Write {
    /// All lanes have the value of another location, for symbols that can be in the destination.
    Copy(u32),
    /// The lanes that a condition lets through have it.
    CopyUnder(u32, Condition),
    /// Something else.
    Other,
}

impl Partials {
    /// Nothing is pending.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The predicate under which what is pending was defined.
    pub fn guard(&self) -> Option<Symbol> {
        self.guard.map(|g| g.0).filter(|_| !self.entries.is_empty())
    }

    /// Notes a definition under `guard` in `new`; see [`Partial`] for `old`.
    pub fn define(&mut self, guard: Condition, symbol: Symbol, new: u32, old: Option<SmallVec<[u32; 2]>>) {
        self.guard = Some(guard);
        self.entries.push(Partial { symbol, new: SmallVec::from_slice(&[new]), old });
    }

    /// The symbol gets another value: nothing of it is pending, nor what it guards.
    pub fn redefine(&mut self, symbol: Symbol) {
        match self.guard {
            Some((guard, _)) if guard == symbol => self.clear(),
            _ => self.entries.retain(|e| e.symbol != symbol),
        }
    }

    /// Another symbol gets the value of one: where that one is pending, this one is, too.
    pub fn copy(&mut self, from: Symbol, to: Symbol) {
        let copies: SmallVec<[Partial; 2]> =
            self.entries.iter().filter(|e| e.symbol == from).map(|e| Partial { symbol: to, ..e.clone() }).collect();
        self.entries.extend(copies);
    }

    /// Some locations hold nothing known any more.
    pub fn forget_where(&mut self, which: impl Fn(u32) -> bool) {
        for entry in &mut self.entries {
            entry.new.retain(|l| !which(*l));
            entry.old.iter_mut().for_each(|old| old.retain(|l| !which(*l)));
        }
    }

    /// Follows writes of several locations at once. Returns the symbols that are whole in one of them from now on, of
    /// those that `fits` lets be there.
    pub fn write(&mut self, writes: &[(u32, Write)], fits: impl Fn(Symbol) -> bool) -> SmallVec<[(u32, Symbol); 2]> {
        let mut whole = SmallVec::new();
        for entry in self.entries.iter_mut().filter(|e| fits(e.symbol)) {
            let (new, old) = (entry.new.clone(), entry.old.clone());
            let (is_new, is_old) = (|l: u32| new.contains(&l), |l: u32| old.as_ref().is_none_or(|o| o.contains(&l)));
            for &(to, write) in writes {
                let (becomes_new, becomes_old) = match write {
                    Write::Copy(from) => (is_new(from), is_old(from)),
                    Write::CopyUnder(from, condition) => match self.guard {
                        Some(guard) if guard == condition => (is_new(from), is_old(to)),
                        Some((guard, negate)) if (guard, !negate) == condition => (is_new(to), is_old(from)),
                        _ => (is_new(from) && is_new(to), is_old(from) && is_old(to)),
                    },
                    Write::Other => (false, false),
                };
                if becomes_new && becomes_old {
                    whole.push((to, entry.symbol));
                }
                set(&mut entry.new, to, becomes_new);
                if let Some(old) = &mut entry.old {
                    set(old, to, becomes_old);
                }
            }
        }
        let unfit = |s: Symbol| !fits(s);
        for entry in self.entries.iter_mut().filter(|e| unfit(e.symbol)) {
            for (to, _) in writes {
                set(&mut entry.new, *to, false);
                entry.old.iter_mut().for_each(|old| set(old, *to, false));
            }
        }
        whole
    }
}

/// Puts a location into a set, or takes it out.
fn set(locations: &mut SmallVec<[u32; 2]>, location: u32, is_in: bool) {
    locations.retain(|l| *l != location);
    if is_in {
        locations.push(location);
    }
}
