//! What the host's processor does with the lanes of a warp at once.
//!
//! LLVM takes any access of lanes apart that the processor does not have: into an access, a test and a branch for each lane, of
//! which a kernel then has thousands, so that it takes seconds to compile. On such hosts all lanes load, those that shall not
//! from a place that can be read ([`super::transfer`]), and stores under a mask are a loop over the active lanes. Where all lanes
//! are active LLVM needs no branches for stores, and what it makes then is faster than the loop. (The gather instructions of AVX2
//! take as long as scalar loads on Zen 3, `benches/gather`, and three times as long elsewhere.)
//!
//! A processor may have an access that it takes apart itself. Zen 4 gathers by microcode (its
//! successor was not measured): where all lanes are active 32 loads
//! take .88 of the time (`benches/gather`, `benches/private_array`). Under a mask its gather is the faster one
//! (`benches/sparse_product`), and scatters are as fast as stores (`benches/transpose`).

/// What accesses of lanes the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    /// Gathers and scatters: each lane from and to a place of its own, under a mask.
    pub scatters: bool,
    /// Gathers that are faster than one load after the other where all lanes are active.
    pub gathers_all: bool,
    /// Vectors of words under a mask.
    pub masks_words: bool,
    /// Vectors of bytes and half words under a mask.
    pub masks_narrow: bool,
    /// Bits of a vector register, and how many there are.
    pub vectors: (u32, u32),
    /// Converts half precision. (On other hosts LLVM would call functions that this process may lack.)
    pub halves: bool,
}

impl Host {
    /// By the processor and its features, as LLVM names them.
    pub fn new(cpu: &str, features: &str) -> Host {
        let has = |feature: &str| features.split(',').any(|f| f.strip_prefix('+') == Some(feature));
        let vectors = match () {
            _ if has("avx512f") => (512, 32),
            _ if has("avx") => (256, 16),
            _ if cfg!(target_arch = "aarch64") => (128, 32),
            _ => (128, 16),
        };
        Host {
            vectors,
            scatters: has("avx512f"),
            gathers_all: has("avx512f") && !cpu.starts_with("znver"),
            masks_words: has("avx2"),
            masks_narrow: has("avx512bw") && has("avx512vl"),
            halves: cfg!(target_arch = "aarch64") || has("f16c"),
        }
    }

    /// Vector registers that a row of `n` lanes takes, and rows that all of them hold.
    pub fn registers_of_row(self, n: u32) -> (f64, f64) {
        let (bits, count) = self.vectors;
        let of_row = f64::from((32 * n).div_ceil(bits));
        (of_row, f64::from(count) / of_row)
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
    fn gathers_in_microcode_are_not_used_for_all_lanes() {
        let host = Host::new("znver4", "+avx,+avx512f");
        assert!(host.scatters && !host.gathers_all);
        assert!(Host::new("sapphirerapids", "+avx,+avx512f").gathers_all);
    }

    #[test]
    fn features_are_words_with_a_plus() {
        let host = Host::new("", "+avx,+avx2,-avx512f,+f16c,+avx512bw");
        assert!(host.masks_words && host.halves && !host.scatters && !host.masks_narrow);
        assert!(host.masks(32) && host.masks(64) && !host.masks(8));
        assert_eq!(host.registers_of_row(32), (4.0, 4.0));
        assert_eq!(Host::new("", "+avx,+avx512f").registers_of_row(4), (1.0, 32.0));
    }
}
