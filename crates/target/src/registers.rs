//! What register files cost: energy of an access, bits, area and access time, from their capacities (C13).
//!
//! # Geometry
//! A file is cut into arrays of four lanes, 128 bits wide, as in the publications. Each warp scheduler has
//! files of its own. An array of a local file holds `entries x warps that hold them x 16` bytes; one of the main
//! file's banks its share of what the file holds for four lanes.
//!
//! # Energy
//! Local files are small arrays with three read ports and one write port. Prices are known for those of 1 to 8
//! entries and 8 active warps (`energy.local-read-pj`, Gebhart, Keckler, Dally, MICRO 2011). Between two listed
//! capacities the price is interpolated, both as logarithms; beyond them it goes on from the nearest one as
//! `C^b`, with the exponent b of the power law through all of them (least squares of the logarithms).
//! Arrays of flip-flops grow nearly linearly; beyond some size an SRAM of the same ports costs less, and
//! a designer takes that: the price is the lesser of the two. An SRAM's price is the main file's
//! (`energy.main-read-pj`, known for a bank of `energy.arrays.main-bank-bytes`), times what more ports cost,
//! and grows with its capacity as CACTI 7 computes it (HewlettPackard/cacti, 32 nm, ITRS high-performance
//! cells, 512 bytes to 128 KiB, 128-bit words): reading with `C^0.57`, writing with `C^0.46`; 3 read ports
//! and 1 write port cost 1.4 times one of each at 4 KiB.
//!
//! # Area and access time
//! CACTI's as above: `17.9 C^0.84` µm² and `0.0177 C^0.30` ns with one read and one write port, `56 C^0.82` µm² and
//! `0.0128 C^0.37` ns with 3 and 1; C in bytes.

use super::Machine;

/// Lanes of an array.
const ARRAY_LANES: u32 = 4;

/// Bytes of a register of an array's lanes.
const REGISTER_BYTES: f64 = 4.0 * ARRAY_LANES as f64;

/// A register file of an SM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegisterFile {
    /// Reading and writing 32 bits of a lane, in picojoules, without wires.
    pub access_pj: [f64; 2],
    /// Capacity of an array, in bytes.
    pub array_bytes: f64,
    /// Bits of the SM's file.
    pub bits: u64,
    /// Area of the SM's file.
    pub area_mm2: f64,
    /// Time to read an array.
    pub access_ns: f64,
}

/// Picojoules of register accesses of one lane, 32 bits, wires included: reading, writing.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterPrices {
    /// The main file.
    pub main: [f64; 2],
    /// Each cluster's local file, by a unit of its own.
    pub local: Vec<[f64; 2]>,
    /// What an access to a local file costs more by a unit that clusters share.
    pub shared_wire: f64,
    /// The scalar file.
    pub scalar: [f64; 2],
    /// A bit of a predicate register.
    pub predicate: f64,
}

/// The power law through points of capacity and price: `(a, b)` of `a C^b`, by least squares of the logarithms.
/// `None` without two points of different capacities and positive prices.
fn power_law(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    if points.len() < 2 || points.iter().any(|(c, p)| *c <= 0.0 || *p <= 0.0) {
        return None;
    }
    let n = points.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0.ln()), mean(&|p| p.1.ln()));
    let spread = mean(&|p| (p.0.ln() - x).powi(2));
    if spread == 0.0 {
        return None;
    }
    let b = mean(&|p| (p.0.ln() - x) * (p.1.ln() - y)) / spread;
    Some(((y - b * x).exp(), b))
}

/// The price at a capacity, of listed points in ascending order of capacity.
fn price_of_listed(points: &[(f64, f64)], bytes: f64) -> Option<f64> {
    let (_, exponent) = power_law(points)?;
    let above = points.partition_point(|p| p.0 < bytes);
    Some(match (above.checked_sub(1).and_then(|i| points.get(i)), points.get(above)) {
        (Some(low), Some(high)) => {
            let part = (bytes / low.0).ln() / (high.0 / low.0).ln();
            low.1 * (high.1 / low.1).powf(part)
        }
        (Some(end), None) | (None, Some(end)) => end.1 * (bytes / end.0).powf(exponent),
        (None, None) => return None,
    })
}

impl Machine {
    /// Warps of a scheduler that hold local registers at once: the active set's, or all resident ones (C13, C14).
    pub fn local_register_warps(&self) -> u32 {
        let resident = self.sm.max_warps;
        self.active_set().map_or(resident, |active| active.min(resident)).div_ceil(self.sm.schedulers)
    }

    /// A cluster's local file of an SM; empty if the machine has no such cluster.
    pub fn local_file(&self, cluster: usize) -> RegisterFile {
        let entries = self.clusters.get(cluster).map_or(0, |c| c.local_registers);
        let warps = self.local_register_warps();
        let bytes = f64::from(entries * warps) * REGISTER_BYTES;
        let e = &self.energy;
        let price = |table: &[f64], main: f64, exponent: f64| {
            let entry = (entries.max(1) as usize - 1).min(table.len().saturating_sub(1));
            let listed = table.get(entry).copied().unwrap_or(0.0);
            if e.arrays.table_warps == 0 {
                return listed;
            }
            let capacity = |i: usize| (i + 1) as f64 * f64::from(e.arrays.table_warps) * REGISTER_BYTES;
            let points: Vec<_> = table.iter().enumerate().map(|(i, p)| (capacity(i), *p)).collect();
            let bytes = bytes.max(REGISTER_BYTES);
            let fitted = price_of_listed(&points, bytes).unwrap_or(listed);
            match e.arrays.main_bank_bytes {
                0 => fitted,
                reference => fitted.min(main * e.arrays.port_factor * (bytes / f64::from(reference)).powf(exponent)),
            }
        };
        let arrays = f64::from(self.warp_size / ARRAY_LANES * self.sm.schedulers);
        RegisterFile {
            access_pj: [
                price(&e.local_read_pj, e.main_read_pj, e.arrays.read_exponent),
                price(&e.local_write_pj, e.main_write_pj, e.arrays.write_exponent),
            ],
            array_bytes: bytes,
            bits: u64::from(entries) * u64::from(warps * self.sm.schedulers) * u64::from(self.warp_size) * 32,
            area_mm2: arrays * area_of_four_ports(bytes),
            access_ns: 0.0128 * bytes.powf(0.37),
        }
    }

    /// The main file of an SM.
    pub fn main_register_file(&self) -> RegisterFile {
        let e = &self.energy;
        let arrays = self.warp_size / ARRAY_LANES;
        let banks = self.sm.schedulers * self.main_file.banks.max(1);
        let bytes = f64::from(self.sm.main_registers) * 4.0 / f64::from(arrays * banks);
        let scale = |exponent: f64| match (e.arrays.main_bank_bytes, self.main_file.banks) {
            // As many ports as wanted: no array is like that.
            (0, _) | (_, 0) => 1.0,
            (reference, _) => (bytes / f64::from(reference)).powf(exponent),
        };
        RegisterFile {
            access_pj: [e.main_read_pj * scale(e.arrays.read_exponent), e.main_write_pj * scale(e.arrays.write_exponent)],
            array_bytes: bytes,
            bits: u64::from(self.sm.main_registers) * 32,
            area_mm2: f64::from(arrays * banks) * area_of_two_ports(bytes),
            access_ns: 0.0177 * bytes.powf(0.30),
        }
    }

    /// All register files of an SM with their names: `main`, `local NAME` of each cluster with local registers, `scalar`.
    /// Predicate registers, a bit of a lane each, are not among them: no published price covers them.
    pub fn register_files(&self) -> Vec<(String, RegisterFile)> {
        let clusters = self.clusters.iter().enumerate().filter(|(_, c)| c.local_registers > 0);
        let local = clusters.map(|(i, c)| (format!("local {}", c.name), self.local_file(i)));
        let (main, scalar) = (self.main_register_file(), self.scalar_file());
        std::iter::once(("main".to_string(), main)).chain(local).chain([("scalar".to_string(), scalar)]).collect()
    }

    /// The scalar file of an SM: one array for each scheduler's warps.
    pub fn scalar_file(&self) -> RegisterFile {
        let e = &self.energy;
        let bytes = f64::from(self.sm.scalar_registers * self.sm.max_warps.div_ceil(self.sm.schedulers)) * 4.0;
        let files = f64::from(self.sm.schedulers);
        let scale = |exponent: f64| match e.arrays.scalar_file_bytes {
            0 => 1.0,
            reference => (bytes / f64::from(reference)).powf(exponent),
        };
        RegisterFile {
            access_pj: [e.scalar_read_pj * scale(e.arrays.read_exponent), e.scalar_write_pj * scale(e.arrays.write_exponent)],
            array_bytes: bytes,
            bits: (files * bytes * 8.0) as u64,
            area_mm2: files * area_of_four_ports(bytes),
            access_ns: 0.0128 * bytes.powf(0.37),
        }
    }

    /// What accesses to the register files cost.
    pub fn register_prices(&self) -> RegisterPrices {
        let e = &self.energy;
        let with_wire = |access: [f64; 2], mm: f64| access.map(|pj| pj + mm * e.wire_pj_per_mm);
        let local = self.clusters.iter().enumerate().map(|(i, cluster)| {
            let access = self.local_file(i).access_pj;
            let own = if cluster.shared_path { e.distance_mm.local_shared } else { e.distance_mm.local };
            with_wire(access, own)
        });
        let longer = (e.distance_mm.local_shared - e.distance_mm.local).max(0.0);
        RegisterPrices {
            main: with_wire(self.main_register_file().access_pj, e.distance_mm.main),
            local: local.collect(),
            shared_wire: longer * e.wire_pj_per_mm,
            scalar: with_wire(self.scalar_file().access_pj, e.distance_mm.scalar),
            predicate: e.predicate_pj,
        }
    }
}

/// Square millimetres of an array of a capacity in bytes, one read and one write port.
fn area_of_two_ports(bytes: f64) -> f64 {
    17.9e-6 * bytes.powf(0.84)
}

/// The same with three read ports and one write port.
fn area_of_four_ports(bytes: f64) -> f64 {
    56e-6 * bytes.powf(0.82)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(overrides: &[&str]) -> Machine {
        let all: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        crate::load::mixed(&all).unwrap_or_else(|e| panic!("{e}"))
    }

    const HONEST: [&str; 3] = ["energy.arrays.table-warps=8", "energy.arrays.main-bank-bytes=4096", "sm.scheduler=two-level"];

    fn with<'a>(more: &[&'a str]) -> Machine {
        let all: Vec<&'a str> = HONEST.into_iter().chain(more.iter().copied()).collect();
        machine(&all)
    }

    #[test]
    fn a_power_law_is_found_again() {
        let points: Vec<(f64, f64)> = [100.0f64, 300.0, 1000.0].iter().map(|c| (*c, 3.0 * c.powf(0.6))).collect();
        let (a, b) = power_law(&points).unwrap();
        assert!((a - 3.0).abs() < 1e-9 && (b - 0.6).abs() < 1e-12, "{a} {b}");
        assert_eq!(power_law(&points[..1]), None);
        assert_eq!(power_law(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(power_law(&[(1.0, 0.0), (2.0, 2.0)]), None);
    }

    #[test]
    fn the_published_points_are_met() {
        // MICRO 2011: files of 8 active warps.
        for n in 1..=8usize {
            let entries = format!("clusters.0.local-registers={n}");
            let m = with(&["sm.active-warps=8", &entries, "energy.arrays.main-bank-bytes=0"]);
            let file = m.local_file(0);
            assert_eq!(file.array_bytes, 128.0 * n as f64);
            let table = [m.energy.local_read_pj[n - 1], m.energy.local_write_pj[n - 1]];
            assert!(file.access_pj.iter().zip(table).all(|(price, listed)| (price / listed - 1.0).abs() < 1e-12), "{n}");
        }
    }

    #[test]
    fn between_and_beyond_listed_points() {
        let points = [(100.0, 1.0), (400.0, 4.0)];
        let at = |bytes| price_of_listed(&points, bytes).unwrap();
        for (bytes, price) in [(100.0, 1.0), (200.0, 2.0), (400.0, 4.0), (50.0, 0.5), (800.0, 8.0)] {
            assert!((at(bytes) - price).abs() < 1e-12, "{bytes}: {}", at(bytes));
        }
        assert_eq!(price_of_listed(&points[..1], 100.0), None);
    }

    #[test]
    fn capacity_decides_not_entries() {
        // C13: the same bytes cost the same, whoever holds them.
        let few = with(&["sm.scheduler=two-level", "sm.active-warps=8", "clusters.0.local-registers=6"]).local_file(0);
        let many = with(&["sm.scheduler=two-level", "sm.active-warps=16", "clusters.0.local-registers=3"]).local_file(0);
        assert_eq!((few.access_pj, few.area_mm2), (many.access_pj, many.area_mm2));
        let all = with(&["clusters.0.local-registers=6"]).local_file(0);
        assert_eq!(all.array_bytes, 6.0 * 48.0 * 16.0);
        assert!(all.access_pj[0] > 3.0 * few.access_pj[0] && all.access_pj[1] > 2.0 * few.access_pj[1]);
        // A large file is an SRAM: 4608 bytes with 3 read ports and 1 write port against the bank of 4096.
        let scale = (4608.0f64 / 4096.0).powf(0.46);
        assert!((all.access_pj[1] - 2.75 * 1.4 * scale).abs() < 1e-9, "{}", all.access_pj[1]);
    }

    #[test]
    fn prices_without_a_reference_are_what_the_description_says() {
        let m = machine(&["energy.arrays.table-warps=0", "energy.arrays.main-bank-bytes=0", "clusters.*.local-registers=6"]);
        let prices = m.register_prices();
        let e = &m.energy;
        let wire = |mm: f64| mm * e.wire_pj_per_mm;
        assert_eq!(prices.main, [e.main_read_pj + wire(1.0), e.main_write_pj + wire(1.0)]);
        assert_eq!(prices.local[0], [e.local_read_pj[5] + wire(0.2), e.local_write_pj[5] + wire(0.2)]);
        assert_eq!(prices.local[3], [e.local_read_pj[5] + wire(0.4), e.local_write_pj[5] + wire(0.4)]);
        assert!((prices.shared_wire - wire(0.2)).abs() < 1e-12);
    }

    #[test]
    fn schedulers_have_files_of_their_own() {
        let one = with(&["clusters.0.local-registers=4", "sm.max-warps=12"]);
        let four = with(&["clusters.0.local-registers=4", "sm.schedulers=4", "main-file.banks=2"]);
        let (a, b) = (one.local_file(0), four.local_file(0));
        assert_eq!((a.access_pj, 4 * a.bits), (b.access_pj, b.bits));
        // 64 Ki registers in eight banks of eight arrays: the arrays of the publication.
        let main = four.main_register_file();
        assert_eq!((main.array_bytes, main.access_pj), (4096.0, [2.0, 2.75]));
        assert!(with(&["main-file.banks=2"]).main_register_file().access_pj[0] > 4.0);
    }

    #[test]
    fn the_scalar_file_grows_with_its_warps() {
        let price = |more: &str| with(&["energy.arrays.scalar-file-bytes=4096", more]).scalar_file().access_pj[0];
        assert!((price("sm.schedulers=4") / price("sm.schedulers=1") - 0.25f64.powf(0.57)).abs() < 1e-9);
    }

    #[test]
    fn files_of_an_sm() {
        let m = with(&["clusters.*.local-registers=0", "clusters.1.local-registers=3"]);
        let names: Vec<String> = m.register_files().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["main".to_string(), format!("local {}", m.clusters[1].name), "scalar".to_string()]);
    }

    #[test]
    fn bits_and_area() {
        let m = with(&["sm.active-warps=8", "clusters.0.local-registers=4"]);
        let (local, main) = (m.local_file(0), m.main_register_file());
        assert_eq!((local.bits, main.bits), (4 * 8 * 32 * 32, 65536 * 32));
        // Eight arrays of 512 bytes: CACTI has 12838 square micrometres for one.
        assert!((local.area_mm2 / (8.0 * 12838e-6) - 1.0).abs() < 0.3, "{}", local.area_mm2);
        assert!(main.area_mm2 > local.area_mm2 && main.access_ns > 0.0);
    }
}
