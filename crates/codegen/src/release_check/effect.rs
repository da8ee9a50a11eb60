//! What code does to the rename table of a warp, name by name.

use super::super::names::Names;

/// For each name, what some way through a piece of code does to it. A way that does not exist does nothing:
/// without any the three sets are empty. Names do not depend on each other, so one bit of each set is all
/// that there is to know about a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Names that some way leaves as they were.
    pub keeps: Names,
    /// Names that some way leaves mapped.
    pub maps: Names,
    /// Names that some way leaves unmapped.
    pub unmaps: Names,
}

impl Effect {
    /// Of no code: everything stays as it was.
    pub fn identity() -> Effect {
        Effect { keeps: Names::from(0), ..Default::default() }
    }

    /// Of a warp's start: nothing is mapped.
    pub fn unmapped() -> Effect {
        Effect { unmaps: Names::from(0), ..Default::default() }
    }

    /// Whether there is a way at all.
    pub fn is_possible(&self) -> bool {
        *self != Effect::default()
    }

    /// One piece of code or the other.
    pub fn or(self, o: Effect) -> Effect {
        Effect { keeps: self.keeps.or(o.keeps), maps: self.maps.or(o.maps), unmaps: self.unmaps.or(o.unmaps) }
    }

    /// One piece of code and then the other.
    pub fn then(self, next: Effect) -> Effect {
        if !self.is_possible() {
            return self;
        }
        Effect {
            keeps: self.keeps.and(next.keeps),
            maps: next.maps.or(self.maps.and(next.keeps)),
            unmaps: next.unmaps.or(self.unmaps.and(next.keeps)),
        }
    }

    /// Then these names are mapped.
    pub fn map(self, names: Names) -> Effect {
        self.then(Effect { keeps: Names::from(0).without(names), maps: names, unmaps: Names::default() })
    }

    /// Then these names are given back.
    pub fn unmap(self, names: Names) -> Effect {
        self.then(Effect { keeps: Names::from(0).without(names), maps: Names::default(), unmaps: names })
    }
}
