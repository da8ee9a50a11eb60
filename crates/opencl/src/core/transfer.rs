//! Copies and fills of regions, in device memory and the program's.

use super::clock::Path;
use super::device::Device;
use super::event::Done;

/// Where a region begins and how its rows and slices lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Address of the first byte.
    pub start: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice.
    pub slice_pitch: usize,
}

impl Rows {
    /// Bytes in a row of their own.
    pub fn bytes(start: usize) -> Rows {
        Rows { start, row_pitch: 0, slice_pitch: 0 }
    }

    /// Bytes from the first to the last of a region.
    pub fn span(&self, [bytes, rows, slices]: [usize; 3]) -> usize {
        if bytes == 0 || rows == 0 || slices == 0 {
            return 0;
        }
        (slices - 1) * self.slice_pitch + (rows - 1) * self.row_pitch + bytes
    }

    /// Whether a region's bytes follow each other without a gap.
    fn is_whole(&self, [bytes, rows, slices]: [usize; 3]) -> bool {
        (rows == 1 || self.row_pitch == bytes) && (slices == 1 || self.slice_pitch == bytes * rows)
    }

    fn row(&self, row: usize, slice: usize) -> *mut u8 {
        (self.start + row * self.row_pitch + slice * self.slice_pitch) as *mut u8
    }
}

/// Copies a region of bytes, rows, slices.
///
/// # Safety
/// Both regions are memory that nobody else accesses meanwhile.
pub unsafe fn copy(from: Rows, to: Rows, region: [usize; 3]) {
    let [bytes, rows, slices] = region;
    if from.is_whole(region) && to.is_whole(region) {
        // SAFETY: the caller says so. The regions may overlap.
        unsafe { std::ptr::copy(from.row(0, 0), to.row(0, 0), bytes * rows * slices) };
        return;
    }
    for slice in 0..slices {
        for row in 0..rows {
            // SAFETY: as above.
            unsafe { std::ptr::copy(from.row(row, slice), to.row(row, slice), bytes) };
        }
    }
}

/// Fills a region of bytes, rows, slices with a pattern whose size divides a row's.
///
/// # Safety
/// The region is memory that nobody else accesses meanwhile.
pub unsafe fn fill(to: Rows, region: [usize; 3], pattern: &[u8]) {
    let [bytes, rows, slices] = region;
    for slice in 0..slices {
        for row in 0..rows {
            let start = to.row(row, slice);
            let mut filled = pattern.len().min(bytes);
            // SAFETY: the caller says so; the pattern is the driver's. What is filled is copied behind itself, each
            // time twice as much.
            unsafe {
                std::ptr::copy_nonoverlapping(pattern.as_ptr(), start, filled);
                while filled > 0 && filled < bytes {
                    let more = filled.min(bytes - filled);
                    std::ptr::copy_nonoverlapping(start, start.add(filled), more);
                    filled += more;
                }
            }
        }
    }
}

/// A copy as a command does it, with what the caches must learn. `writes_device`: the destination is device
/// memory.
///
/// # Safety
/// As [`copy`].
pub unsafe fn execute_copy(device: &Device, from: Rows, to: Rows, region: [usize; 3], path: Path, writes_device: bool) -> Done {
    let mut state = device.state();
    // SAFETY: the caller says so; the device's memory is ours while its state is locked.
    unsafe { copy(from, to, region) };
    if writes_device {
        state.host_wrote(to.start as u64, to.span(region) as u64);
    }
    moved(device, path, region)
}

/// A fill as a command does it.
///
/// # Safety
/// As [`fill`].
pub unsafe fn execute_fill(device: &Device, to: Rows, region: [usize; 3], pattern: &[u8]) -> Done {
    let mut state = device.state();
    // SAFETY: the caller says so; the device's memory is ours while its state is locked.
    unsafe { fill(to, region, pattern) };
    state.host_wrote(to.start as u64, to.span(region) as u64);
    moved(device, Path::Dram, region)
}

/// What a copy of a region comes to, with its nanoseconds if time is simulated.
pub fn moved(device: &Device, path: Path, region: [usize; 3]) -> Done {
    let bytes = region.iter().product::<usize>() as u64;
    Done { takes: device.clock.is_simulated().then(|| device.clock.copy(path, bytes)), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_copied_row_by_row() {
        let from: Vec<u8> = (0..60).collect();
        let mut to = vec![0u8; 60];
        // 2 bytes, 2 rows, 2 slices from rows of 5 bytes and slices of 20 to rows of 3 and slices of 10.
        let source = Rows { start: from.as_ptr() as usize + 6, row_pitch: 5, slice_pitch: 20 };
        let target = Rows { start: to.as_mut_ptr() as usize + 1, row_pitch: 3, slice_pitch: 10 };
        // SAFETY: both vectors are larger than the regions.
        unsafe { copy(source, target, [2, 2, 2]) };
        assert_eq!(to[..16], [0, 6, 7, 0, 11, 12, 0, 0, 0, 0, 0, 26, 27, 0, 31, 32]);
        assert_eq!((source.span([2, 2, 2]), target.span([2, 2, 2]), target.span([0, 2, 2])), (27, 15, 0));
    }

    #[test]
    fn patterns_repeat_in_each_row() {
        let mut to = vec![0u8; 12];
        let target = Rows { start: to.as_mut_ptr() as usize, row_pitch: 6, slice_pitch: 12 };
        // SAFETY: the vector is as large as the region.
        unsafe { fill(target, [4, 2, 1], &[1, 2]) };
        assert_eq!(to, [1, 2, 1, 2, 0, 0, 1, 2, 1, 2, 0, 0]);
        for bytes in [0, 3, 6, 9, 12] {
            let mut to = vec![9u8; 12];
            let target = Rows::bytes(to.as_mut_ptr() as usize);
            // SAFETY: the vector is as large as the region.
            unsafe { fill(target, [bytes, 1, 1], &[1, 2, 3]) };
            let expected: Vec<u8> = (0..12).map(|i| if i < bytes { (i % 3) as u8 + 1 } else { 9 }).collect();
            assert_eq!(to, expected);
        }
    }
}
