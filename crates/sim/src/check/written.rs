//! Which bytes of work-group and private memory have been written.
//!
//! Four bits a word. Words of private memory stand lane beside lane, so that the usual access, all lanes at
//! one offset, is of neighbours; so are those of work-group memory that consecutive lanes access. Words
//! between variables ([`Redzone`]) have a mark of their own.

use super::{Access, Kind};
use crate::exec::all_lanes;
use heddle_isa::MemorySpace;
use heddle_object::metadata::Redzone;

/// Marks of a work-group.
pub struct Written {
    redzones: Vec<Redzone>,
    local: Vec<u8>,
    /// Warp after warp, in each word after word, in each lane after lane.
    private: Vec<u8>,
    /// Words of a warp's private memory, all lanes together.
    warp_words: usize,
    lanes: usize,
}

/// What an access has met.
#[derive(Default)]
pub struct Found {
    /// Of each word of a lane, the lanes that read what was never written; of a scalar access bit 0.
    pub missing: [u64; 4],
    /// Lanes that access what lies between variables.
    pub outside: u64,
}

/// A whole word.
const WORD: u8 = 15;
/// Nothing may access the word.
const REDZONE: u8 = 16;

impl Written {
    /// Nothing is written. Sizes in bytes, that of private memory a lane.
    pub fn new(redzones: &[Redzone], local_bytes: usize, private_bytes: usize, lanes: usize, warps: usize) -> Self {
        let warp_words = private_bytes.div_ceil(4) * lanes;
        let (local, private) = (vec![0; local_bytes.div_ceil(4) + 4], vec![0; warp_words * warps]);
        Written { redzones: redzones.to_vec(), local, private, warp_words, lanes }
    }

    /// A work-group starts.
    pub fn clear(&mut self) {
        self.local.fill(0);
        self.private.fill(0);
        for zone in &self.redzones {
            let words = (zone.start / 4) as usize..(zone.end / 4) as usize;
            if zone.space == MemorySpace::Local {
                self.local.get_mut(words).unwrap_or_default().fill(REDZONE);
                continue;
            }
            for warp in self.private.chunks_exact_mut(self.warp_words.max(1)) {
                warp.get_mut(words.start * self.lanes..words.end * self.lanes).unwrap_or_default().fill(REDZONE);
            }
        }
    }

    /// Notes an access of a warp. What is stored in the lanes of `a.undefined` counts as not written.
    pub fn access<const N: usize>(&mut self, warp: usize, a: &Access<N>) -> Found {
        let (marks, word_step, lane_step) = match a.space {
            MemorySpace::Local => (&mut self.local[..], 1, 0),
            _ => (&mut self.private[warp * self.warp_words..(warp + 1) * self.warp_words], N, 1),
        };
        let words = (a.bytes / 4).max(1) as usize;
        // A scalar access stands for all lanes; its address is in lane 0.
        let mask = if a.scalar { 1 } else { a.mask };
        let place = |lane: usize, k: usize| (a.addresses[lane] as usize / 4 + k) * word_step + lane * lane_step;
        if mask == all_lanes(N) && a.bytes >= 4 && a.undefined == [0; 4] {
            // Lanes whose marks are neighbours: of private memory one word at a time.
            let step = if lane_step == 1 { 1 } else { words };
            let first = place(0, 0);
            let mut different = 0;
            for lane in 0..N {
                different |= place(lane, 0) ^ (first + lane * step);
            }
            if different == 0 {
                let runs = if lane_step == 1 { words } else { 1 };
                let (mut missing, mut outside) = (false, false);
                for k in 0..runs {
                    let run = &marks[first + k * word_step..][..N * step];
                    missing |= a.kind != Kind::Store && run.iter().fold(false, |any, m| any | (*m == 0));
                    outside |= run.iter().fold(false, |any, m| any | (*m == REDZONE));
                }
                // Otherwise: which lanes.
                if !missing && !outside {
                    for k in 0..runs {
                        if a.kind != Kind::Load {
                            marks[first + k * word_step..][..N * step].fill(WORD);
                        }
                    }
                    return Found::default();
                }
            }
        }
        let bits = if a.bytes < 4 { (1u8 << a.bytes) - 1 } else { WORD };
        let mut found = Found::default();
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let bits = if a.bytes < 4 { bits << (a.addresses[lane] & 3) } else { WORD };
            for k in 0..words {
                let mark = &mut marks[place(lane, k)];
                if *mark == REDZONE {
                    found.outside |= 1 << lane;
                    continue;
                }
                if a.kind != Kind::Store && *mark & bits == 0 {
                    found.missing[k] |= 1 << lane;
                }
                match a.kind {
                    Kind::Load => {}
                    _ if a.undefined[k] >> lane & 1 == 1 => *mark &= !bits,
                    _ => *mark |= bits,
                }
            }
        }
        found
    }
}
