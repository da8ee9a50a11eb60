//! Fields whose value is one of a few words: how schedulers, caches and memory choose.

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use crate::describe::{Allowed, Described, Sort, Violation};

/// Defines such fields. The first word is the one that code does not depend on.
macro_rules! words {
    ($($(#[doc = $about:literal])+ $Word:ident { $($(#[doc = $doc:literal])+ $Name:ident,)+ })+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumIter)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum $Word {
            #[default]
            $($(#[doc = $doc])+ $Name,)+
        }

        impl Described for $Word {
            const SORT: Sort = Sort::Word;
            fn kind() -> String {
                $Word::iter().map(|w| w.to_string()).collect::<Vec<_>>().join(", ")
            }
            fn check(&self, _: &str, _: Allowed) -> Result<(), Violation> {
                Ok(())
            }
            fn forget(&mut self, whole: bool) {
                *self = if whole { $Word::default() } else { *self };
            }
        }
    )+};
}

words! {
    /// In which order warps that could issue are asked.
    Scheduler {
        /// Those that issued last, then the oldest.
        GreedyOldest,
        /// The oldest first.
        Oldest,
        /// In turns: by age from behind the one that issued last on, then from the oldest on.
        RoundRobin,
        /// Greedy, then oldest, among the warps of an active set (C14).
        TwoLevel,
    }

    /// Which line of a set makes room for another one. Empty ways are taken first, then lines marked
    /// evict-first (K3, K4), and the policy decides among these, or else among all.
    Replacement {
        /// The line unused for longest.
        Lru,
        /// A binary tree of bits over the ways, each of which points away from the side that was used last.
        PseudoLru,
        /// The line that came first.
        Fifo,
        /// Any, by a generator that counts the evictions of the cache.
        Random,
        /// Re-reference interval prediction with 2 bits a line (SRRIP: Jaleel, Theobald, Steely, Emer, ISCA 2010).
        Rrip,
    }

    /// How a line number becomes the number of a set.
    SetIndex {
        /// The remainder by an irreducible polynomial (Rau, ISCA 1991): lines a power of two apart use all sets.
        Hashed,
        /// The lower bits (the remainder by the number of sets).
        Linear,
    }

    /// In which order a channel of device memory serves requests.
    DramScheduler {
        /// As they are made; rows stay open for requests that come while they are served.
        InOrder,
        /// First ready, first come, first served (FR-FCFS: Rixner et al., ISCA 2000): requests for the open row
        /// first, then those whose bank can open another one, then by age.
        FrFcfs,
    }

    /// Where stores go that a cache takes.
    WritePolicy {
        /// They stay in the cache until the line is evicted.
        Back,
        /// They go on to the next level at once; the cache's copy follows.
        Through,
    }
}
