//! Register renaming (REN-1 … REN-3, REN-7 … REN-9): the physical register file that the resident warps of an
//! SM share.
//!
//! A *physical register* here is one register of all lanes of a warp. Each resident warp has F of its own;
//! the others are a pool. A write to an unmapped shared name takes one from the pool, a release gives it
//! back, a warp's end gives back all. Values live in the interpreter's logical rows; this module only counts
//! and checks, because which physical register a name has makes no difference to any result.
//!
//! # No deadlock (REN-8)
//! Dijkstra's banker's algorithm over work-groups in order of age: a warp gets registers only if afterwards
//! every resident group could still reach its greatest demand, oldest first, each with what the pool has and
//! what older groups give back. The oldest group is therefore never refused, and barriers do not matter,
//! because demand is that of all warps of a group at once. A launch whose first group alone could not be
//! served is refused before it starts.
//!
//! # No waiting with full hands
//! Safe is not yet good: warps that stop half-way in their phases of many registers hold these for nothing, and
//! in the worst case the groups go through their phases one after the other. So a warp of another group than
//! the oldest begins such a phase only if all that it and those in theirs may need is there ([`is_prompt`]).

use heddle_isa::{Inst, Op, Space};

/// Shared names an instruction uses, from 0 for register F on.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Names that it reads.
    pub reads: Vec<u8>,
    /// Names that it writes.
    pub writes: Vec<u8>,
    /// Names that it releases, when it has read them.
    pub releases: Vec<u8>,
    /// Released only if no lane of the warp waits.
    pub conditional: bool,
}

impl Uses {
    /// Of an instruction on a machine whose registers from `fixed` on are shared.
    pub fn new(inst: &Inst, fixed: u32) -> Uses {
        let names = |reg: heddle_isa::PhysReg, words: u8| {
            let first = u32::from(reg.index);
            let all = first..first + u32::from(words.max(1));
            all.filter(move |r| reg.space == Space::Main && *r >= fixed).map(move |r| (r - fixed) as u8)
        };
        let mut uses = Uses { conditional: inst.op == Op::Release && inst.imm != 0, ..Default::default() };
        for (i, s) in inst.srcs.iter().enumerate() {
            let Some(reg) = s.as_phys() else { continue };
            if inst.op != Op::Release {
                uses.reads.extend(names(reg, inst.src_words(i)));
            }
            if inst.op == Op::Release || inst.release >> i & 1 == 1 {
                uses.releases.extend(names(reg, inst.src_words(i)));
            }
        }
        if let Some(reg) = inst.dst.as_phys() {
            uses.writes.extend(names(reg, inst.dst_words()));
        }
        uses
    }
}

/// The rename table of a warp: which shared names are mapped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table([u64; 4]);

impl Table {
    /// Whether a name is mapped.
    pub fn is_mapped(&self, name: u8) -> bool {
        self.0[usize::from(name / 64)] >> (name % 64) & 1 == 1
    }
    /// Maps a name; says whether it was free.
    pub fn map(&mut self, name: u8) -> bool {
        let new = !self.is_mapped(name);
        self.0[usize::from(name / 64)] |= 1 << (name % 64);
        new
    }
    /// Gives a name back; says whether it was mapped.
    pub fn release(&mut self, name: u8) -> bool {
        let was = self.is_mapped(name);
        self.0[usize::from(name / 64)] &= !(1 << (name % 64));
        was
    }
    /// How many names are mapped: registers of the pool that the warp holds.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }
    /// The first mapped name.
    pub fn first(&self) -> Option<u8> {
        (0..=255).find(|n| self.is_mapped(*n))
    }
}

/// Whether `needed` registers may go to the group at `at`. Groups are given oldest first as registers held;
/// each may come to hold `demand`.
pub fn is_safe(free: u32, held: &[u32], at: usize, needed: u32, demand: u32) -> bool {
    let Some(mut available) = free.checked_sub(needed) else { return false };
    for (i, h) in held.iter().enumerate() {
        let h = h + if i == at { needed } else { 0 };
        if available < demand.saturating_sub(h) {
            return false;
        }
        available += h;
    }
    true
}

/// Whether a warp that holds `held` registers, of `demand` at most, may map `needed` more without taking what
/// others need to go on. A warp that holds more than a quarter of its demand is *committed*: what it may still
/// come to need, `reserved` of all other such warps together, is kept for it, because one that stops in its
/// phase of many registers holds them for nothing. A warp becomes committed only if its whole demand is there.
pub fn is_prompt(free: u32, reserved: u32, held: u32, needed: u32, demand: u32) -> bool {
    let rest = demand.saturating_sub(held).max(needed);
    let wanted = match () {
        () if is_committed(held, demand) => needed,
        () if is_committed(held + needed, demand) => rest + reserved,
        () => needed + reserved,
    };
    free >= wanted
}

/// Whether a warp that holds so many registers is in its phase of many.
pub fn is_committed(held: u32, demand: u32) -> bool {
    held > demand / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_group_is_always_served() {
        // REN-8: 4 registers, demand 3 each. The younger group may take one, not two.
        assert!(is_safe(4, &[0, 0], 1, 1, 3));
        assert!(!is_safe(4, &[0, 0], 1, 2, 3));
        assert!(is_safe(3, &[0, 1], 0, 3, 3));
        // A younger group that already holds one gets what the oldest does not need.
        assert!(!is_safe(3, &[0, 1], 1, 1, 3));
        assert!(is_safe(3, &[3, 1], 1, 2, 3));
    }

    #[test]
    fn a_phase_of_many_registers_begins_when_all_are_there() {
        // Of 16 at most, a warp with 4 needs one more: 12 must be there beside what others wait for.
        assert!(is_prompt(12, 0, 4, 1, 16) && !is_prompt(11, 0, 4, 1, 16) && !is_prompt(12, 1, 4, 1, 16));
        // Up to a quarter, and once in its phase, it takes what it needs now.
        assert!(is_prompt(3, 2, 3, 1, 16) && !is_prompt(2, 2, 3, 1, 16));
        assert!(is_prompt(1, 9, 5, 1, 16) && !is_prompt(0, 9, 5, 1, 16));
    }

    #[test]
    fn random_requests_never_deadlock() {
        use rand::{Rng, SeedableRng};
        for seed in 0..200 {
            let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
            let demand = rng.random_range(1..6u32);
            let total = demand + rng.random_range(0..6u32);
            let mut held = vec![0u32; rng.random_range(1..6)];
            let mut wanted: Vec<u32> = held.iter().map(|_| rng.random_range(0..=demand)).collect();
            let mut steps = 0;
            while !held.is_empty() {
                let free = total - held.iter().sum::<u32>();
                let mut progress = false;
                for i in 0..held.len() {
                    if held[i] < wanted[i] && is_safe(free, &held, i, 1, demand) {
                        held[i] += 1;
                        progress = true;
                        break;
                    }
                }
                // A group that has what it wants ends.
                if let Some(done) = (0..held.len()).find(|i| held[*i] == wanted[*i]).filter(|_| !progress || rng.random_bool(0.3))
                {
                    held.remove(done);
                    wanted.remove(done);
                    progress = true;
                }
                assert!(progress, "seed {seed}: stuck with {held:?} of {wanted:?}, {free} free");
                steps += 1;
                assert!(steps < 10_000);
            }
        }
    }
}
