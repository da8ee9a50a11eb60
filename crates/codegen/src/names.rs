//! Sets of names of main registers.

use heddle_isa::{PhysReg, Space};

/// A set of the 256 names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names([u64; 4]);

impl Names {
    /// The names of an operand of some words; none if it lies in another file.
    pub fn of(reg: PhysReg, words: u8) -> Names {
        let mut names = Names::default();
        if reg.space == Space::Main {
            for i in usize::from(reg.index)..(usize::from(reg.index) + usize::from(words.max(1))).min(256) {
                names.insert(i as u8);
            }
        }
        names
    }

    /// All from `first` on.
    pub fn from(first: u32) -> Names {
        let mut names = Names([u64::MAX; 4]);
        for i in 0..first.min(256) as usize {
            names.0[i / 64] &= !(1 << (i % 64));
        }
        names
    }

    /// Adds a name.
    pub fn insert(&mut self, name: u8) {
        self.0[usize::from(name / 64)] |= 1 << (name % 64);
    }

    fn zip(self, o: Names, f: impl Fn(u64, u64) -> u64) -> Names {
        Names(std::array::from_fn(|i| f(self.0[i], o.0[i])))
    }

    /// Those in both.
    pub fn and(self, o: Names) -> Names {
        self.zip(o, |a, b| a & b)
    }

    /// Those in either.
    pub fn or(self, o: Names) -> Names {
        self.zip(o, |a, b| a | b)
    }

    /// Those that are not in the other.
    pub fn without(self, o: Names) -> Names {
        self.zip(o, |a, b| a & !b)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// How many there are.
    pub fn count(self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// Whether a name is among them.
    pub fn has(self, i: u32) -> bool {
        self.0[i as usize / 64] >> (i % 64) & 1 == 1
    }

    /// The lowest.
    pub fn first(self) -> Option<u32> {
        (0..256).find(|i| self.has(*i))
    }
}
