//! The checker's state: which symbols each location holds.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::partial::Partials;
use heddle_isa::{PhysReg, Space};
use heddle_object::variables::Word;

/// Dense number of a word of a virtual register.
pub type Symbol = u32;

const SCALAR: u32 = 256;
const PREDICATE: u32 = 512;
const LOCAL: u32 = 768;
const SLOT: u32 = LOCAL + 256 * 256;
const CONSTANT: u32 = 1 << 31;

/// Numbers of locations: main registers, scalar registers, predicates, local registers by cluster, then words
/// of spill slots.
pub struct Locations {
    /// Private memory of the program itself.
    first_slot: u32,
}

impl Locations {
    /// Locations of a function with this much private memory before allocation.
    pub fn new(private_bytes: u32) -> Self {
        Locations { first_slot: private_bytes }
    }

    /// The locations of a register tuple.
    pub fn of(&self, reg: PhysReg, words: u8, cluster: u8) -> impl Iterator<Item = u32> + use<> {
        let base = match reg.space {
            Space::Scalar => SCALAR,
            Space::Predicate => PREDICATE,
            Space::Local => LOCAL + 256 * u32::from(cluster),
            _ => 0,
        };
        let index = u32::from(reg.index);
        (0..u32::from(words.max(1))).map(move |w| base + (index + w) % 256)
    }

    /// The locations of words of spill slots from a byte address on.
    pub fn slots(&self, address: u32, words: u8) -> Option<SmallVec<[u32; 4]>> {
        let fits = address >= self.first_slot && address % 4 == 0 && address < u32::MAX / 2;
        fits.then(|| (0..u32::from(words)).map(|w| SLOT + address / 4 + w).collect())
    }

    /// The location that stands for a constant.
    pub fn constant(number: usize) -> u32 {
        CONSTANT + number as u32
    }

    /// Whether a location is a scalar register.
    pub fn is_scalar(&self, location: u32) -> bool {
        (SCALAR..PREDICATE).contains(&location)
    }

    /// Whether a location is a local register.
    pub fn is_local(&self, location: u32) -> bool {
        (LOCAL..SLOT).contains(&location)
    }

    /// What an object calls a location; `None` for constants.
    pub fn word(&self, location: u32) -> Option<Word> {
        Some(match location {
            0..SCALAR => Word::Main(location as u8),
            SCALAR..PREDICATE => Word::Scalar((location - SCALAR) as u8),
            PREDICATE..LOCAL => Word::Predicate((location - PREDICATE) as u8),
            LOCAL..SLOT => Word::Local(((location - LOCAL) / 256) as u8, ((location - LOCAL) % 256) as u8),
            CONSTANT.. => return None,
            _ => Word::Slot((location - SLOT) * 4),
        })
    }

    /// A location's name.
    pub fn name(&self, location: u32) -> String {
        match location {
            0..SCALAR => format!("m{location}"),
            SCALAR..PREDICATE => format!("s{}", location - SCALAR),
            PREDICATE..LOCAL => format!("p{}", location - PREDICATE),
            LOCAL..SLOT => format!("l{} of cluster {}", (location - LOCAL) % 256, (location - LOCAL) / 256),
            CONSTANT.. => "a constant".into(),
            _ => format!("slot {:#x}", (location - SLOT) * 4),
        }
    }
}

/// What a location holds.
pub type Held = SmallVec<[Symbol; 2]>;

/// State at the start of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Location and symbol, sorted.
    pub pairs: Vec<(u32, Symbol)>,
    /// Symbols that no definition reaches, sorted: held everywhere.
    pub undefined: Vec<Symbol>,
}

impl Entry {
    /// Intersects with another state in the locations and symbols (for `undefined`) chosen; says whether
    /// anything changed.
    pub fn meet(&mut self, other: &Entry, location: impl Fn(u32) -> bool, symbol: impl Fn(Symbol) -> bool) -> bool {
        let undefined = |e: &Entry, s: Symbol| e.undefined.binary_search(&s).is_ok();
        let mut pairs: Vec<(u32, Symbol)> = self
            .pairs
            .iter()
            .copied()
            .filter(|p| !location(p.0) || undefined(other, p.1) || other.pairs.binary_search(p).is_ok())
            .collect();
        if !self.undefined.is_empty() {
            let new =
                other.pairs.iter().filter(|p| location(p.0) && undefined(self, p.1) && self.pairs.binary_search(p).is_err());
            pairs.extend(new.copied());
            pairs.sort_unstable();
        }
        let before = self.undefined.len();
        self.undefined.retain(|s| !symbol(*s) || undefined(other, *s));
        let changed = pairs != self.pairs || before != self.undefined.len();
        self.pairs = pairs;
        changed
    }
}

/// The state while walking through a block.
#[derive(Default)]
pub struct State {
    held: FxHashMap<u32, Held>,
    holders: FxHashMap<Symbol, SmallVec<[u32; 2]>>,
    undefined: Vec<Symbol>,
    empty: Held,
    /// What the last original instruction defined under a guard.
    pub(super) partials: Partials,
}

impl State {
    /// Becomes the state at the start of a block.
    pub fn load(&mut self, entry: &Entry) {
        self.held.clear();
        self.holders.clear();
        self.partials.clear();
        self.undefined.clone_from(&entry.undefined);
        for &(l, s) in &entry.pairs {
            self.held.entry(l).or_default().push(s);
            self.holders.entry(s).or_default().push(l);
        }
    }

    /// The state in the form kept between blocks.
    pub fn store(&self) -> Entry {
        let mut pairs: Vec<(u32, Symbol)> = self.held.iter().flat_map(|(l, h)| h.iter().map(move |s| (*l, *s))).collect();
        pairs.sort_unstable();
        Entry { pairs, undefined: self.undefined.clone() }
    }

    /// What a location holds.
    pub fn at(&self, location: u32) -> &Held {
        self.held.get(&location).unwrap_or(&self.empty)
    }

    /// Where a symbol is.
    pub fn holders(&self, symbol: Symbol) -> SmallVec<[u32; 2]> {
        self.holders.get(&symbol).cloned().unwrap_or_default()
    }

    /// Whether no definition of a symbol reaches this point.
    pub fn is_undefined(&self, symbol: Symbol) -> bool {
        self.undefined.binary_search(&symbol).is_ok()
    }

    /// Notes that a symbol has a value from now on.
    pub fn define(&mut self, symbol: Symbol) {
        if let Ok(i) = self.undefined.binary_search(&symbol) {
            self.undefined.remove(i);
        }
    }

    /// The symbol's value is nowhere any more.
    pub fn forget(&mut self, symbol: Symbol) {
        for l in self.holders.remove(&symbol).unwrap_or_default() {
            if let Some(h) = self.held.get_mut(&l) {
                h.retain(|s| *s != symbol);
            }
        }
    }

    /// The location holds nothing known any more.
    pub fn clear(&mut self, location: u32) {
        for s in self.held.remove(&location).unwrap_or_default() {
            if let Some(h) = self.holders.get_mut(&s) {
                h.retain(|l| *l != location);
            }
        }
    }

    /// Some locations hold nothing known any more.
    pub fn clear_where(&mut self, which: impl Fn(u32) -> bool) {
        let locations: SmallVec<[u32; 8]> = self.held.keys().copied().filter(|l| which(*l)).collect();
        locations.into_iter().for_each(|l| self.clear(l));
    }

    /// The location holds a symbol's value, too.
    pub fn add(&mut self, location: u32, symbol: Symbol) {
        let held = self.held.entry(location).or_default();
        if !held.contains(&symbol) {
            held.push(symbol);
            self.holders.entry(symbol).or_default().push(location);
        }
    }
}
