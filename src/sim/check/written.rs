//! Which bytes of work-group and private memory have been written.
//!
//! Four bits a word. Words of private memory stand lane beside lane, so that the usual access, all lanes at one offset, is of neighbours; so are
//! those of work-group memory that consecutive lanes access.

use super::{Access, Kind};
use crate::isa::MemorySpace;
use crate::sim::exec::all_lanes;

/// Marks of a work-group.
pub struct Written {
    local: Vec<u8>,
    /// Warp after warp, in each word after word, in each lane after lane.
    private: Vec<u8>,
    /// Words of a warp's private memory, all lanes together.
    warp_words: usize,
}

/// A whole word.
const WORD: u8 = 15;

impl Written {
    /// Nothing is written. Sizes in bytes, that of private memory a lane.
    pub fn new(local_bytes: usize, private_bytes: usize, lanes: usize, warps: usize) -> Self {
        let warp_words = private_bytes.div_ceil(4) * lanes;
        Written { local: vec![0; local_bytes.div_ceil(4) + 4], private: vec![0; warp_words * warps], warp_words }
    }

    /// A work-group starts.
    pub fn clear(&mut self) {
        self.local.fill(0);
        self.private.fill(0);
    }

    /// Notes an access of a warp. Lanes that read what was never written; of a scalar access bit 0. What is stored in lanes of `undefined` counts
    /// as not written.
    pub fn access<const N: usize>(&mut self, warp: usize, a: &Access<N>) -> u64 {
        let (marks, word_step, lane_step) = match a.space {
            MemorySpace::Local => (&mut self.local[..], 1, 0),
            _ => (&mut self.private[warp * self.warp_words..(warp + 1) * self.warp_words], N, 1),
        };
        let words = (a.bytes / 4).max(1) as usize;
        // A scalar access stands for all lanes; its address is in lane 0.
        let mask = if a.scalar { 1 } else { a.mask };
        let place = |lane: usize, k: usize| (a.addresses[lane] as usize / 4 + k) * word_step + lane * lane_step;
        if mask == all_lanes(N) && a.bytes >= 4 && a.undefined == 0 {
            // Lanes whose marks are neighbours: of private memory one word at a time.
            let step = if lane_step == 1 { 1 } else { words };
            let first = place(0, 0);
            let mut different = 0;
            for lane in 0..N {
                different |= place(lane, 0) ^ (first + lane * step);
            }
            if different == 0 {
                let runs = if lane_step == 1 { words } else { 1 };
                let mut zeros = 0;
                for k in 0..runs {
                    let run = &mut marks[first + k * word_step..][..N * step];
                    if a.kind != Kind::Store {
                        zeros += run.iter().filter(|m| **m == 0).count();
                    }
                    if a.kind != Kind::Load {
                        run.fill(WORD);
                    }
                }
                if zeros == 0 {
                    return 0;
                }
                // Which lanes: an access with something missing is rare. (Atomics have been noted, and are of one word.)
                if a.kind == Kind::Atomic {
                    return all_lanes(N);
                }
            }
        }
        let bits = if a.bytes < 4 { (1u8 << a.bytes) - 1 } else { WORD };
        let mut missing = 0u64;
        let mut rest = mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let bits = if a.bytes < 4 { bits << (a.addresses[lane] & 3) } else { WORD };
            if a.kind != Kind::Store && (0..words).all(|k| marks[place(lane, k)] & bits == 0) {
                missing |= 1 << lane;
            }
            for k in 0..words {
                let mark = &mut marks[place(lane, k)];
                match a.kind {
                    Kind::Load => {}
                    _ if a.undefined >> lane & 1 == 1 => *mark &= !bits,
                    _ => *mark |= bits,
                }
            }
        }
        missing
    }
}
