//! One function for each size that warps may have (S1).
//!
//! Lanes are arrays whose length the compiler knows, so what works on them is built for each size. Unit tests are built for warps
//! of 32 lanes alone, which takes a fraction of the time: warps of all sizes run in `tests/`.

/// Calls a function with a machine's warp size as its constant: `by_warp_size!(machine.warp_size, f(a, b))` is `f::<32>(a, b)` on a
/// machine of warps of 32 lanes.
macro_rules! by_warp_size {
    ($size:expr, $f:ident($($argument:expr),*)) => {
        match $size {
            #[cfg(not(test))]
            8 => $f::<8>($($argument),*),
            #[cfg(not(test))]
            16 => $f::<16>($($argument),*),
            #[cfg(not(test))]
            64 => $f::<64>($($argument),*),
            32 => $f::<32>($($argument),*),
            #[cfg(not(test))]
            size => unreachable!("machine descriptions have no warps of {size} lanes"),
            #[cfg(test)]
            size => panic!("unit tests have no warps of {size} lanes"),
        }
    };
}
