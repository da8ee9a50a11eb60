//! Values between memory and registers, and from lanes to registers.
//!
//! Words that stand in memory as an aligned pair move at once: another host thread may access them at the same time, and sees
//! them change together ([`crate::memory`]).

use std::sync::atomic::{AtomicU64, Ordering};

use super::all_lanes;

/// Two words that follow each other in memory.
///
/// # Safety
/// From `p` on 8 bytes may be read.
#[inline(always)]
unsafe fn read_pair(p: *mut u8) -> [u32; 2] {
    let p = p.cast::<u64>();
    // SAFETY: the caller's; atomics need the alignment, which a launch's arguments need not have.
    let v = unsafe { if p.is_aligned() { AtomicU64::from_ptr(p).load(Ordering::Relaxed) } else { p.read_unaligned() } };
    [v as u32, (v >> 32) as u32]
}

/// Puts two words behind each other into memory.
///
/// # Safety
/// From `p` on 8 bytes may be written.
#[inline(always)]
unsafe fn write_pair(p: *mut u8, [low, high]: [u32; 2]) {
    let p = p.cast::<u64>();
    let v = u64::from(low) | u64::from(high) << 32;
    // SAFETY: as for `read_pair`.
    unsafe { if p.is_aligned() { AtomicU64::from_ptr(p).store(v, Ordering::Relaxed) } else { p.write_unaligned(v) } }
}

/// The words of a value in memory, `stride` bytes apart, a narrow one extended.
///
/// # Safety
/// From `p` on so many words, or a value of `BYTES` bytes, may be read.
#[inline(always)]
pub(super) unsafe fn read<const BYTES: u32, const SIGNED: bool>(p: *mut u8, stride: usize) -> [u32; 4] {
    // SAFETY: the caller's.
    unsafe {
        match BYTES {
            1 if SIGNED => [i32::from(p.cast::<i8>().read()) as u32, 0, 0, 0],
            1 => [u32::from(p.read()), 0, 0, 0],
            2 if SIGNED => [i32::from(p.cast::<i16>().read_unaligned()) as u32, 0, 0, 0],
            2 => [u32::from(p.cast::<u16>().read_unaligned()), 0, 0, 0],
            4 => [p.cast::<u32>().read_unaligned(), 0, 0, 0],
            _ if stride == 4 => {
                let [a, b] = read_pair(p);
                let [c, d] = if BYTES == 16 { read_pair(p.wrapping_add(8)) } else { [0; 2] };
                [a, b, c, d]
            }
            _ => std::array::from_fn(|k| match k < BYTES as usize / 4 {
                true => p.wrapping_add(k * stride).cast::<u32>().read_unaligned(),
                false => 0,
            }),
        }
    }
}

/// Puts the words of a value into memory, `stride` bytes apart, of a narrow one its low bits.
///
/// # Safety
/// From `p` on so many words, or a value of `BYTES` bytes, may be written.
#[inline(always)]
pub(super) unsafe fn write<const BYTES: u32>(p: *mut u8, stride: usize, word: impl Fn(usize) -> u32) {
    // SAFETY: the caller's.
    unsafe {
        match BYTES {
            1 => p.write(word(0) as u8),
            2 => p.cast::<u16>().write_unaligned(word(0) as u16),
            8 | 16 if stride == 4 => {
                for k in (0..BYTES as usize / 4).step_by(2) {
                    write_pair(p.wrapping_add(4 * k), [word(k), word(k + 1)]);
                }
            }
            _ => {
                for k in 0..BYTES as usize / 4 {
                    p.wrapping_add(k * stride).cast::<u32>().write_unaligned(word(k));
                }
            }
        }
    }
}

/// The words of N values that follow each other in memory.
///
/// # Safety
/// `p` is valid for `N * BYTES` bytes.
#[inline(always)]
pub(super) unsafe fn read_row<const BYTES: u32, const SIGNED: bool, const N: usize>(p: *mut u8, values: &mut [[u32; N]; 4]) {
    // SAFETY: the caller's.
    unsafe {
        if BYTES == 4 {
            values[0] = p.cast::<[u32; N]>().read_unaligned();
            return;
        }
        for i in 0..N {
            let v = read::<BYTES, SIGNED>(p.add(i * BYTES as usize), 4);
            for (values, v) in values.iter_mut().zip(v).take((BYTES as usize).div_ceil(4)) {
                values[i] = v;
            }
        }
    }
}

/// Writes the lanes of a mask of a row.
#[inline(always)]
pub(super) fn blend<const N: usize>(row: &mut [u32; N], values: &[u32; N], mask: u64) {
    if mask == all_lanes(N) {
        *row = *values;
        return;
    }
    // In words as wide as a lane, for which hosts have masked moves.
    for (k, (row, values)) in row.chunks_mut(32).zip(values.chunks(32)).enumerate() {
        let mask = (mask >> (32 * k)) as u32;
        for (lane, (r, v)) in row.iter_mut().zip(values).enumerate() {
            *r = if mask & 1 << lane != 0 { *v } else { *r };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_wherever_it_stands() {
        let words = [1, 2, 3, 4];
        let mut memory = [0u64; 64];
        let start = memory.as_mut_ptr().cast::<u8>();
        for skew in 0..8 {
            for stride in [4, 32] {
                // SAFETY: the last word ends before the memory does.
                unsafe {
                    let p = start.add(skew);
                    write::<16>(p, stride, |k| words[k]);
                    assert_eq!(read::<16, false>(p, stride), words);
                    write::<8>(p, stride, |k| words[k + 2]);
                    assert_eq!(read::<8, false>(p, stride), [3, 4, 0, 0]);
                    assert_eq!(read::<16, false>(p, stride), [3, 4, 3, 4]);
                    write::<4>(p, stride, |_| 0xffff_fffe);
                    assert_eq!(read::<4, false>(p, stride), [0xffff_fffe, 0, 0, 0]);
                    assert_eq!(read::<2, true>(p, stride), [0xffff_fffe, 0, 0, 0]);
                    assert_eq!(read::<1, false>(p, stride), [0xfe, 0, 0, 0]);
                    let mut row = [[0; 2]; 4];
                    write::<16>(p, 4, |k| words[k]);
                    read_row::<8, false, 2>(p, &mut row);
                    assert_eq!(row, [[1, 3], [2, 4], [0; 2], [0; 2]]);
                }
            }
        }
    }
}
