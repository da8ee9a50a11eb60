//! What the host's processor does with the lanes of a warp at once.
//!
//! LLVM takes any access of lanes apart that the processor does not have: into an access, a test and a branch for each lane, of
//! which a kernel then has thousands, so that it takes seconds to compile. Such hosts get a loop over the active lanes
//! ([`super::transfer`]). Where all lanes are active LLVM needs no branches; what it makes then is faster than the loop for
//! stores and for what lies near. (Random places are read by the loop in a third of the time that the gather instructions of
//! AVX2 take, which LLVM would choose for absolute addresses: `benches/gather`.)

/// What accesses of lanes the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    /// Each lane from and to a place of its own, under a mask.
    pub scatters: bool,
    /// Vectors of words under a mask.
    pub masks_words: bool,
    /// Vectors of bytes and half words under a mask.
    pub masks_narrow: bool,
    /// Converts half precision. (On other hosts LLVM would call functions that this process may lack.)
    pub halves: bool,
}

impl Host {
    /// By the features of the processor, as LLVM names them.
    pub fn new(features: &str) -> Host {
        let has = |feature: &str| features.split(',').any(|f| f.strip_prefix('+') == Some(feature));
        Host {
            scatters: has("avx512f"),
            masks_words: has("avx2"),
            masks_narrow: has("avx512bw") && has("avx512vl"),
            halves: cfg!(target_arch = "aarch64") || has("f16c"),
        }
    }

    /// Whether vectors of elements of so many bits are accessed under a mask.
    pub fn masks(self, bits: u32) -> bool {
        if bits < 32 { self.masks_narrow } else { self.masks_words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_words_with_a_plus() {
        let host = Host::new("+avx,+avx2,-avx512f,+f16c,+avx512bw");
        assert!(host.masks_words && host.halves && !host.scatters && !host.masks_narrow);
        assert!(host.masks(32) && host.masks(64) && !host.masks(8));
    }
}
