//! The memory part of a machine description (K1): caches, network, DRAM, system memory, work-group memory, address generation.

use serde::{Deserialize, Serialize};

use super::validate::Violation;
use super::validate::{check, energy, range};

/// Memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Memory {
    /// Line of all caches, bytes.
    pub line_bytes: u32,
    /// Sector of a line: the unit of transfer, bytes.
    pub sector_bytes: u32,
    /// Cycles of an access to work-group memory.
    pub local_latency: u32,
    /// Cycles of a constant-bank access.
    pub argument_latency: u32,
    /// Banks of work-group memory, 4 bytes wide each.
    pub local_banks: u32,
    /// Energy of a 4-byte access to work-group memory, pJ.
    pub local_word_pj: f64,
    /// Device memory, bytes.
    pub device_bytes: u64,
    /// Surface descriptors of a launch, at most 256 (G7).
    pub surfaces: u32,
    /// Components that an element of a typed surface has at most (G4).
    pub surface_components: u32,
    /// Cycles that the address-generation unit adds to an access.
    pub surface_latency: u32,
    /// Energy of an address made of global ids, pJ a lane.
    pub surface_address_pj: f64,
    /// Data L1 of an SM: global and private memory.
    pub data: Cache,
    /// Uniform L1 of an SM: `ldu`, read-only surfaces, textures.
    pub uniform: Cache,
    /// Constant L1 of an SM.
    pub constant: Cache,
    /// Instruction L1 of an SM.
    pub instruction: Cache,
    /// L1.5 of a group of SMs, behind instruction, uniform and constant L1.
    pub l15: SharedCache,
    /// L2 of the device.
    pub l2: SecondLevel,
    /// Between SMs and L2.
    pub network: Network,
    /// Device memory.
    pub dram: Dram,
    /// The host's memory.
    pub system: SystemMemory,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cache {
    /// Size, bytes.
    pub bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Cycles of a hit, and to find a miss.
    pub latency: u32,
    /// Lines that may be on their way at once (miss status holding registers).
    pub misses: u32,
    /// Energy of reading or writing a sector, pJ.
    pub sector_pj: f64,
}

/// The L1.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SharedCache {
    /// SMs that share one.
    pub sms: u32,
    /// Size, bytes.
    pub bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Cycles of a hit, and to find a miss.
    pub latency: u32,
    /// Energy of reading or writing a sector, pJ.
    pub sector_pj: f64,
}

/// The L2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SecondLevel {
    /// Size of all slices, bytes.
    pub bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Slices, each with its own port.
    pub slices: u32,
    /// Cycles of a hit, and to find a miss.
    pub latency: u32,
    /// Cycles a slice is busy with a sector.
    pub interval: u32,
    /// Cycles a slice is busy with one lane's atomic.
    pub atomic_interval: u32,
    /// Energy of reading or writing a sector, pJ.
    pub sector_pj: f64,
}

/// The network between SMs and L2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Network {
    /// Cycles one way.
    pub latency: u32,
    /// Cycles an SM's port is busy with a sector, in each direction.
    pub interval: u32,
    /// Cycles of requests that wait at an SM's port before its load-store unit has to.
    pub queue: u32,
    /// Energy of moving a sector, pJ.
    pub sector_pj: f64,
}

/// Device memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dram {
    /// Channels.
    pub channels: u32,
    /// Banks of a channel.
    pub banks: u32,
    /// Bytes of an open row.
    pub row_bytes: u32,
    /// Cycles to a sector of the open row.
    pub row_hit: u32,
    /// Cycles to a sector of another row: precharge and activate first.
    pub row_miss: u32,
    /// Cycles between two activations of a bank.
    pub row_cycle: u32,
    /// Cycles a channel is busy with a sector.
    pub interval: u32,
    /// Energy of reading or writing a sector, pJ.
    pub sector_pj: f64,
    /// Energy of opening a row, pJ.
    pub activate_pj: f64,
}

/// The host's memory behind its link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SystemMemory {
    /// Cycles of an access.
    pub latency: u32,
    /// Cycles the link is busy with a sector (or a smaller transaction).
    pub interval: u32,
    /// Energy of moving a sector, pJ.
    pub sector_pj: f64,
}

impl Memory {
    /// Cycles of a load that misses all caches and finds its DRAM row open: what the compiler plans with.
    pub fn far_latency(&self) -> u32 {
        self.data.latency + 2 * self.network.latency + self.l2.latency + self.dram.row_hit
    }

    /// Checks the sizes against each other.
    pub(super) fn validate(&self) -> Result<(), Violation> {
        let power = |value: u32, low: u32, high: u32| value.is_power_of_two() && (low..=high).contains(&value);
        let sector = self.sector_bytes;
        check(power(sector, 16, 256), "memory.sector-bytes", &sector, "must be a power of two from 16 to 256")?;
        let rule = format!("must be a power of two from sector-bytes ({sector}) to 256");
        check(power(self.line_bytes, sector, 256), "memory.line-bytes", &self.line_bytes, &rule)?;
        for (field, value) in [("memory.local-latency", self.local_latency), ("memory.argument-latency", self.argument_latency)] {
            range(value, 0, 100_000, field)?;
        }
        range(self.local_banks, 1, 1024, "memory.local-banks")?;
        check(
            (1 << 16..=1 << 40).contains(&self.device_bytes),
            "memory.device-bytes",
            &self.device_bytes,
            "must be 64 KiB to 1 TiB",
        )?;
        energy(self.local_word_pj, "memory.local-word-pj")?;
        let (u, c, i) = (&self.uniform, &self.constant, &self.instruction);
        for (name, cache) in [("data", &self.data), ("uniform", u), ("constant", c), ("instruction", i)] {
            self.cache(&format!("memory.{name}"), cache.bytes, cache.ways, 1)?;
            range(cache.latency, 0, 100_000, &format!("memory.{name}.latency"))?;
            range(cache.misses, 1, 100_000, &format!("memory.{name}.misses"))?;
            energy(cache.sector_pj, &format!("memory.{name}.sector-pj"))?;
        }
        range(self.l15.sms, 1, 1024, "memory.l15.sms")?;
        range(self.l2.slices, 1, 256, "memory.l2.slices")?;
        self.cache("memory.l15", self.l15.bytes, self.l15.ways, 1)?;
        self.cache("memory.l2", self.l2.bytes, self.l2.ways, self.l2.slices)?;
        range(self.dram.channels, 1, 256, "memory.dram.channels")?;
        range(self.dram.banks, 1, 256, "memory.dram.banks")?;
        let rule = format!("must be a power of two from line-bytes ({}) to 65536", self.line_bytes);
        check(power(self.dram.row_bytes, self.line_bytes, 65536), "memory.dram.row-bytes", &self.dram.row_bytes, &rule)?;
        for (field, value) in [
            ("l15.latency", self.l15.latency),
            ("l2.latency", self.l2.latency),
            ("l2.interval", self.l2.interval),
            ("l2.atomic-interval", self.l2.atomic_interval),
            ("network.latency", self.network.latency),
            ("network.interval", self.network.interval),
            ("network.queue", self.network.queue),
            ("dram.row-hit", self.dram.row_hit),
            ("dram.row-miss", self.dram.row_miss),
            ("dram.row-cycle", self.dram.row_cycle),
            ("dram.interval", self.dram.interval),
            ("system.latency", self.system.latency),
            ("system.interval", self.system.interval),
        ] {
            range(value, 0, 100_000, &format!("memory.{field}"))?;
        }
        for (field, value) in [
            ("l15.sector-pj", self.l15.sector_pj),
            ("l2.sector-pj", self.l2.sector_pj),
            ("network.sector-pj", self.network.sector_pj),
            ("dram.sector-pj", self.dram.sector_pj),
            ("dram.activate-pj", self.dram.activate_pj),
            ("system.sector-pj", self.system.sector_pj),
        ] {
            energy(value, &format!("memory.{field}"))?;
        }
        Ok(())
    }

    fn cache(&self, field: &str, bytes: u32, ways: u32, slices: u32) -> Result<(), Violation> {
        range(ways, 1, 1024, &format!("{field}.ways"))?;
        let unit = ways * self.line_bytes * slices;
        let parts =
            if slices > 1 { format!("ways x line-bytes x slices = {unit}") } else { format!("ways x line-bytes = {unit}") };
        let fits = bytes >= unit && bytes.is_multiple_of(unit) && bytes <= 1 << 30;
        check(fits, &format!("{field}.bytes"), &bytes, &format!("must be a multiple of {parts}, at most 1 GiB"))
    }
}
