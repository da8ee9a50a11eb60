//! L2 while work-groups run functionally: their accesses go straight to memory, and L2 is told which lines
//! they touched, so that the next work-groups with timing find it as warm as they would have.
//!
//! Before, memory gets what is dirty ([`LowerLevels::begin_warming`]); meanwhile only tags, states and ages
//! change; afterwards all lines get what memory holds ([`LowerLevels::end_warming`]). Lines that were written
//! are dirty as they would be, so that their write-backs cost what they would. Nothing takes time; what
//! would have gone to and from memory is counted apart.

use std::ops::{Add, Mul, Sub};

use super::{CODE_BASE, Home, LowerLevels};
use crate::DeviceMemory;
use crate::hierarchy::cache::WriteKind;
use crate::hierarchy::line::{ByteMask, LONGEST_LINE, bytes_of_sectors, sectors_of};
use crate::touches::Touch;
use heddle_target::WritePolicy;

/// Sectors that work-groups without timing would have moved between L2 and memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmTraffic {
    /// Not found in L2.
    pub missed: u64,
    /// Written back, or through.
    pub written: u64,
}

impl Add for WarmTraffic {
    type Output = WarmTraffic;

    fn add(self, other: WarmTraffic) -> WarmTraffic {
        WarmTraffic { missed: self.missed + other.missed, written: self.written + other.written }
    }
}

impl Sub for WarmTraffic {
    type Output = WarmTraffic;

    fn sub(self, other: WarmTraffic) -> WarmTraffic {
        WarmTraffic { missed: self.missed - other.missed, written: self.written - other.written }
    }
}

impl Mul<f64> for WarmTraffic {
    type Output = WarmTraffic;

    fn mul(self, by: f64) -> WarmTraffic {
        let scaled = |n: u64| (n as f64 * by).round() as u64;
        WarmTraffic { missed: scaled(self.missed), written: scaled(self.written) }
    }
}

impl LowerLevels {
    /// Memory gets the dirty bytes of device and system memory, which stay dirty.
    pub fn begin_warming(&mut self, memory: &DeviceMemory) {
        // The host may have allocated since.
        self.home = None;
        let slices = std::mem::take(&mut self.slices);
        for (line, data, mask) in slices.iter().flat_map(|s| s.cache.dirty_lines()) {
            let home = self.home(memory, line);
            if matches!(home, Home::Device | Home::Lent | Home::System) {
                self.store_bytes(memory, home, line, data, mask);
            }
        }
        self.slices = slices;
    }

    /// A work-group has touched a line.
    pub fn warm(&mut self, memory: &DeviceMemory, touch: Touch) {
        const NOTHING: &[u8] = &[0; LONGEST_LINE];
        let home = self.home(memory, touch.line);
        if !matches!(home, Home::Device | Home::Lent | Home::System) {
            return;
        }
        let through = home == Home::System || self.description.l2.write == WritePolicy::Through;
        let size = self.sector_bytes();
        let slice = self.slice(touch.line);
        let cache = &mut self.slices[slice].cache;
        if touch.written && !self.description.l2.write_allocate && cache.find(touch.line).is_none() {
            return;
        }
        let (frame, eviction) = cache.allocate(touch.line, touch.evict_first);
        if touch.written {
            // Where it is written through it stays clean; either way its bytes follow.
            let kind = if through { WriteKind::Through(u64::MAX) } else { WriteKind::Dirty };
            let mask: ByteMask = bytes_of_sectors(touch.sectors, size);
            cache.write(frame, NOTHING, &mask, kind);
        }
        let missing = touch.sectors & !cache.valid(frame);
        if missing != 0 {
            // Sectors that are written whole are not fetched.
            self.warmed.missed += u64::from(missing.count_ones());
            cache.fill(frame, missing, NOTHING, 0);
        }
        if touch.written && through {
            self.warmed.written += u64::from(touch.sectors.count_ones());
        }
        // Memory has the bytes of what had to make room, but for private memory.
        if let Some(dirty) = eviction.dirty {
            self.warmed.written += u64::from(sectors_of(&dirty.bytes, size).count_ones());
            if !dirty.data.is_empty() && self.home(memory, dirty.line) == Home::Private {
                self.store_bytes(memory, Home::Private, dirty.line, &dirty.data, &dirty.bytes);
            }
            self.slices[slice].cache.recycle(dirty);
        }
    }

    /// All lines of device and system memory get what memory holds.
    pub fn end_warming(&mut self, memory: &DeviceMemory) {
        let mut slices = std::mem::take(&mut self.slices);
        for (line, bytes) in slices.iter_mut().flat_map(|s| s.cache.lines_mut()) {
            if matches!(self.home(memory, line), Home::Device | Home::Lent | Home::System) {
                memory.copy_line(self.address(line), bytes);
            }
        }
        self.slices = slices;
    }

    /// What L2 has of device and system memory: first addresses and bytes of runs of sectors, those first that would be
    /// evicted first.
    pub fn resident(&self) -> Vec<(u64, u64)> {
        let sector = self.sector_bytes() as u64;
        let mut lines: Vec<(u64, u64, u64)> = self.slices.iter().flat_map(|s| s.cache.valid_sectors()).collect();
        lines.retain(|(_, line, _)| self.address(*line) < CODE_BASE);
        // Ages count the uses of a slice, of which all have about as many.
        lines.sort_unstable();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for (_, line, sectors) in lines {
            for i in (0..64).filter(|i| sectors >> i & 1 == 1) {
                let address = self.address(line) + i * sector;
                match runs.last_mut().filter(|(start, bytes)| start + bytes == address) {
                    Some((_, bytes)) => *bytes += sector,
                    None => runs.push((address, sector)),
                }
            }
        }
        runs
    }

    /// The touches that bring a run of bytes to L2.
    pub fn touches(&self, address: u64, bytes: u64) -> impl Iterator<Item = Touch> + use<> {
        let (line_bytes, sector) = (u64::from(self.description.line_bytes), self.sector_bytes() as u64);
        let (mut next, end) = (address / sector * sector, address.saturating_add(bytes));
        std::iter::from_fn(move || {
            let (line, mut sectors) = (next / line_bytes, 0);
            while next < end && next / line_bytes == line {
                sectors |= 1 << (next % line_bytes / sector);
                next += sector;
            }
            (sectors != 0).then_some(Touch { line, sectors, written: false, evict_first: false })
        })
    }

    /// Forgets which lines of device and system memory are dirty: memory has their bytes.
    pub fn settle_warm_lines(&mut self) {
        for slice in &mut self.slices {
            for dirty in slice.cache.clean_all() {
                slice.cache.recycle(dirty);
            }
        }
    }
}
