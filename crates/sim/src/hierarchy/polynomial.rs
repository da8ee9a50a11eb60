//! The hashed index of a cache's sets: the remainder of a line's number by an irreducible polynomial over GF(2).
//!
//! Lines that lie a power of two apart, such as those of a matrix' column, fall in as many sets as there are, and so do those
//! of most other strides (Rau, Pseudo-Randomly Interleaved Memory, ISCA 1991; the hash `P` of GPGPU-Sim's configurations).
//! Lines of a stretch as long as there are sets, at a multiple of its length, have a set each.

/// Most bits that are hashed; the bits of a set's number above these are a line's own.
const MAX_DEGREE: usize = 16;

/// A primitive polynomial of each degree from 0: bit k is the coefficient of x to the k (Watson, Primitive Polynomials (Mod 2),
/// Mathematics of Computation 16, 1962).
const PRIMITIVE: [u32; MAX_DEGREE + 1] =
    [0x1, 0x3, 0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11d, 0x211, 0x409, 0x805, 0x1053, 0x201b, 0x402b, 0x8003, 0x1002d];

/// An irreducible polynomial, as what each byte of a number adds to its remainder.
pub struct Polynomial {
    degree: u32,
    /// By byte from bit `degree` of the number upwards and by its value. Bits above these bytes count for nothing.
    remainders: [[u16; 256]; 4],
}

/// By degree.
static POLYNOMIALS: [Polynomial; MAX_DEGREE + 1] = {
    let mut all = [const { Polynomial::new(0) }; MAX_DEGREE + 1];
    let mut degree = 1;
    while degree <= MAX_DEGREE {
        all[degree] = Polynomial::new(degree);
        degree += 1;
    }
    all
};

impl Polynomial {
    const fn new(degree: usize) -> Polynomial {
        let mut remainders = [[0; 256]; 4];
        // The remainder of each power of x from `degree` upwards.
        let mut power = PRIMITIVE[degree] & !(1 << degree);
        let mut bit = 0;
        while bit < 32 {
            // Numbers with this upper bit are those without it, plus it.
            let (byte, upper) = (bit / 8, 1 << (bit % 8));
            let mut lower = 0;
            while lower < upper {
                remainders[byte][upper + lower] = remainders[byte][lower] ^ power as u16;
                lower += 1;
            }
            power <<= 1;
            if power >> degree != 0 {
                power ^= PRIMITIVE[degree];
            }
            bit += 1;
        }
        Polynomial { degree: degree as u32, remainders }
    }

    /// That by which lines are spread over so many sets.
    pub fn of_sets(sets: usize) -> &'static Polynomial {
        &POLYNOMIALS[(sets.checked_ilog2().unwrap_or(0) as usize).min(MAX_DEGREE)]
    }

    /// A number whose lower bits, as many as the polynomial's degree, are the remainder; the others are as they were.
    #[inline]
    pub fn hash(&self, number: u64) -> u64 {
        let [a, b, c, d] = ((number >> self.degree) as u32).to_le_bytes().map(usize::from);
        let r = &self.remainders;
        number ^ u64::from(r[0][a] ^ r[1][b] ^ r[2][c] ^ r[3][d])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remainder by long division.
    fn remainder(degree: u32, number: u64) -> u64 {
        (degree..64).rev().fold(number, |n, bit| match n >> bit & 1 {
            0 => n,
            _ => n ^ (u64::from(PRIMITIVE[degree as usize]) << (bit - degree)),
        })
    }

    #[test]
    fn hashes_are_remainders() {
        for degree in 0..=MAX_DEGREE as u32 {
            let p = Polynomial::of_sets(1 << degree);
            for n in (0..2000u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (32 - degree)) {
                assert_eq!(p.hash(n) & ((1 << degree) - 1), remainder(degree, n), "degree {degree}, {n:x}");
                assert_eq!(p.hash(n) >> degree, n >> degree);
            }
        }
    }

    #[test]
    fn polynomials_are_primitive() {
        // The powers of x are all that is not 0 before they are 1 again.
        for degree in 1..=MAX_DEGREE as u32 {
            let mut power = remainder(degree, 2);
            let mut order = 1;
            while power != 1 {
                power = remainder(degree, power << 1);
                order += 1;
                assert!(order < 1 << degree, "degree {degree}");
            }
            assert_eq!(order, (1u32 << degree) - 1, "degree {degree}");
        }
    }

    #[test]
    fn lines_a_power_of_two_apart_use_all_sets() {
        for sets in [1u64, 16, 64, 512] {
            let p = Polynomial::of_sets(sets as usize);
            for shift in 0..24 {
                let mut used: Vec<u64> = (0..sets).map(|n| p.hash(n << shift) % sets).collect();
                used.sort_unstable();
                used.dedup();
                assert_eq!(used.len() as u64, sets, "{sets} sets, 2^{shift} apart");
            }
        }
    }

    #[test]
    fn numbers_of_sets_that_are_no_power_of_two_are_all_used() {
        let p = Polynomial::of_sets(48);
        let mut lines = [0; 48];
        (0..4800).for_each(|n| lines[(p.hash(n * 64) % 48) as usize] += 1);
        assert!(lines.iter().all(|n| (50..200).contains(n)), "{lines:?}");
    }
}
