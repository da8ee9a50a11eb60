//! The policies between which the analysis chooses.
//!
//! May touch: nothing.

/// What a load or store should do with the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// As usual: `.ca`, `.wb`.
    Default,
    /// Not in the L1: `.cg`.
    Global,
    /// First to be evicted: `.cs`.
    Stream,
    /// Memory itself, every time: `.cv`, `.wt`.
    Volatile,
    /// Through the uniform cache: `ldu`.
    UniformLoad,
}

impl Hint {
    /// As the assembly spells it on a load or on a store.
    pub fn spelling(self, load: bool) -> &'static str {
        match (self, load) {
            (Hint::Default, true) => "ca",
            (Hint::Default, false) => "wb",
            (Hint::Global, _) => "cg",
            (Hint::Stream, _) => "cs",
            (Hint::Volatile, true) => "cv",
            (Hint::Volatile, false) => "wt",
            (Hint::UniformLoad, _) => "ldu",
        }
    }
}
