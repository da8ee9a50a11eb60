//! Banks and ports of the main register file, and the collection of operands (C13).
//!
//! A 32-bit register of a warp is one access of a bank. An instruction that issues reserves for each word that it reads
//! the first free port of its bank from that cycle on; as all reservations are the earliest possible, a bank is taken up to
//! some cycle without gaps, and that cycle is all that is kept. When its last word is read the instruction has its operands,
//! `latency` cycles later where it reads any. Without collectors its cluster issues nothing until the last word is read.
//! With collectors it is in one of them until its unit takes it, and the cluster issues as long as one is free; units
//! take instructions in the order of their issue. A result takes a write port of its bank in its cycle, or the first cycle behind
//! in which one is free.
//!
//! Instructions on the scalar unit read one lane, which takes a port as well; they hold no slot and no collector. Loads and
//! atomics through the memory hierarchy have a write port of their own. Requests to memory leave in the cycle of issue:
//! what operands come late is added to the result.

use super::super::port_plan::{PortKind, PortPlan};
use super::super::statics::Way;
use super::super::warp_set::WarpSet;
use super::{LaunchContext, Sm};
use heddle_target::{Machine, MainFile};

/// An operand collector.
#[derive(Clone, Copy, Default)]
struct Collector {
    /// Cycle from which it is free.
    free_from: u64,
    /// Cycle in which it had its operands.
    gathered: u64,
}

/// Why a cluster issues nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocked {
    /// The first cycle in which it can.
    pub until: u64,
    /// Operands are being read, else a unit is what everything waits for.
    pub by_banks: bool,
}

/// The main register files of an SM's schedulers.
pub(super) struct MainFileState {
    described: MainFile,
    schedulers: usize,
    /// By scheduler and bank: the first cycle in which a read port is free, and how many are taken in it.
    reads: Vec<(u64, u32)>,
    /// By scheduler and bank: cycles in which a write port is taken, those that are over aside.
    writes: Vec<Vec<u64>>,
    /// By the first port of a cluster: the cycle from which it may issue. Without collectors.
    slots: Vec<u64>,
    /// By the first port of a cluster: its collectors.
    collectors: Vec<Vec<Collector>>,
}

/// When an instruction has its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operands {
    /// Its unit is busy from here on.
    pub start: u64,
    /// Cycles by which its result is later.
    pub delay: u64,
}

impl MainFileState {
    /// Of a machine's SMs, if their main files are anything else than free of limits.
    pub fn new(machine: &Machine, plan: &PortPlan) -> Option<Box<MainFileState>> {
        let described = machine.main_file;
        if !described.is_modelled() {
            return None;
        }
        let schedulers = plan.schedulers();
        let banks = described.banks as usize * schedulers;
        let collectors = described.collectors as usize;
        Some(Box::new(MainFileState {
            described,
            schedulers,
            reads: vec![(0, 0); banks],
            writes: vec![Vec::new(); banks],
            slots: vec![0; plan.ports.len()],
            collectors: vec![vec![Collector::default(); collectors]; if collectors > 0 { plan.ports.len() } else { 0 }],
        }))
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let writes: usize = self.writes.iter().map(|w| size_of_val(&w[..])).sum();
        let collectors: usize = self.collectors.iter().map(|c| size_of_val(&c[..])).sum();
        size_of_val(&self.reads[..]) + size_of_val(&self.slots[..]) + writes + collectors
    }

    /// Whether instructions wait in collectors for operands and units.
    #[inline(always)]
    pub fn collects(&self) -> bool {
        !self.collectors.is_empty()
    }

    /// The bank of a register of a slot's warp.
    fn bank(&self, slot: usize, register: u8) -> usize {
        let (scheduler, warp) = (slot % self.schedulers, slot / self.schedulers);
        let banks = self.described.banks as usize;
        let swizzle = if self.described.swizzle { warp } else { 0 };
        scheduler * banks + (usize::from(register) + swizzle) % banks
    }

    /// Reads words of a slot's warp from a cycle on; returns the cycle in which the last one is read.
    pub fn read(&mut self, slot: usize, registers: &[u8], now: u64) -> u64 {
        let mut last = now;
        if self.described.banks == 0 {
            return last;
        }
        for register in registers {
            let bank = self.bank(slot, *register);
            let (cycle, taken) = &mut self.reads[bank];
            if *cycle < now {
                (*cycle, *taken) = (now, 0);
            }
            last = last.max(*cycle);
            *taken += 1;
            if *taken == self.described.read_ports {
                (*cycle, *taken) = (*cycle + 1, 0);
            }
        }
        last
    }

    /// Writes words of a slot's warp in a cycle, at the earliest; returns the cycle in which the last one is written.
    pub fn write(&mut self, slot: usize, registers: &[u8], now: u64, result: u64) -> u64 {
        let mut last = result;
        if self.described.banks == 0 {
            return last;
        }
        for register in registers {
            let bank = self.bank(slot, *register);
            let taken = &mut self.writes[bank];
            taken.retain(|cycle| *cycle >= now);
            let mut cycle = result;
            while taken.iter().filter(|t| **t == cycle).count() >= self.described.write_ports as usize {
                cycle += 1;
            }
            taken.push(cycle);
            last = last.max(cycle);
        }
        last
    }

    /// Why a cluster, by its first port, issues nothing at a cycle.
    pub fn blocked(&self, cluster: usize, now: u64) -> Option<Blocked> {
        let Some(collectors) = self.collectors.get(cluster) else {
            let until = self.slots[cluster];
            return (until > now).then_some(Blocked { until, by_banks: true });
        };
        let first = collectors.iter().min_by_key(|c| c.free_from)?;
        // An instruction that has its operands and is still there waits for its unit.
        let by_banks = first.gathered + 1 >= first.free_from;
        (first.free_from > now).then_some(Blocked { until: first.free_from, by_banks })
    }

    /// When an instruction has its operands that issues to a cluster, by its first port, and reads its last word in a
    /// cycle; its unit is free from some cycle on.
    pub fn collect(&mut self, cluster: usize, now: u64, last: u64, reads: bool, unit_free: u64) -> Operands {
        let gathered = last + if reads { u64::from(self.described.latency) } else { 0 };
        let Some(collectors) = self.collectors.get_mut(cluster) else {
            self.slots[cluster] = last + 1;
            return Operands { start: last, delay: gathered - now };
        };
        let start = gathered.max(unit_free);
        if let Some(collector) = collectors.iter_mut().min_by_key(|c| c.free_from) {
            *collector = Collector { free_from: start + 1, gathered };
        }
        Operands { start, delay: start - now }
    }

    /// The same on the scalar unit.
    pub fn collect_scalar(&self, now: u64, last: u64, reads: bool) -> Operands {
        let gathered = last + if reads { u64::from(self.described.latency) } else { 0 };
        Operands { start: now, delay: gathered - now }
    }
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// The cycle until which the cluster of a port, or the unit behind it, takes no instruction, and the warps that this stops.
    #[cold]
    pub(super) fn blocked_by_main_file(&mut self, port: usize, now: u64) -> Option<(u64, WarpSet<W>)> {
        let main = self.main_file.as_ref()?;
        if self.ports.kind(port) != PortKind::Unit {
            return None;
        }
        if let Some(blocked) = main.blocked(self.ports.cluster(port), now) {
            let stopped = self.ports.warps_of_cluster(port);
            if blocked.by_banks {
                self.states.conflicted = self.states.conflicted | stopped;
            }
            return Some((blocked.until, stopped));
        }
        let busy = if main.collects() { None } else { self.ports.busy_until(port, now) };
        busy.map(|until| (until, self.ports.warps(port)))
    }

    /// An instruction that issues reads its operands in the main file.
    #[cold]
    pub(super) fn read_main_file(
        &mut self,
        c: &LaunchContext<'a, N>,
        s: usize,
        index: usize,
        now: u64,
        scalar: bool,
    ) -> Operands {
        let Some(main) = self.main_file.as_mut() else { return Operands { start: now, delay: 0 } };
        let st = &c.statics.insts[index];
        let words = c.statics.main_reads(st);
        let last = main.read(s, words, now);
        self.counters.main_file.read_words += words.len() as u64;
        self.counters.main_file.read_conflicts += last - now;
        if scalar || st.control {
            return main.collect_scalar(now, last, !words.is_empty());
        }
        let port = self.ports.of(self.warps.slots[s].rank);
        let unit_free = self.ports.free_from(port);
        main.collect(self.ports.cluster(port), now, last, !words.is_empty(), unit_free)
    }

    /// The cycle in which the result of an instruction is in the main file, if that is where it goes, at the earliest.
    #[cold]
    pub(super) fn write_main_file(&mut self, c: &LaunchContext<'a, N>, s: usize, index: usize, now: u64, result: u64) -> u64 {
        let Some(main) = self.main_file.as_mut() else { return result };
        let st = &c.statics.insts[index];
        if st.way != Way::Free {
            return result;
        }
        let written = main.write(s, c.statics.main_writes(st), now, result);
        self.counters.main_file.write_conflicts += written - result;
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(overrides: &[&str]) -> MainFileState {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let machine = heddle_target::testing::mixed(&overrides);
        *MainFileState::new(&machine, &PortPlan::new(&machine)).unwrap()
    }

    #[test]
    fn a_file_without_limits_is_none() {
        let machine = heddle_target::testing::mixed::<String>(&[]);
        assert!(MainFileState::new(&machine, &PortPlan::new(&machine)).is_none());
        let mut latency = state(&["main-file.latency=3"]);
        assert_eq!((latency.read(0, &[0, 0, 0], 5), latency.write(0, &[1, 1], 5, 9)), (5, 9));
        assert_eq!(latency.collect(2, 5, 5, true, 0), Operands { start: 5, delay: 3 });
        assert_eq!(latency.collect(2, 5, 5, false, 0), Operands { start: 5, delay: 0 });
    }

    #[test]
    fn words_of_one_bank_are_read_one_after_the_other() {
        let mut m = state(&["main-file.banks=4", "main-file.swizzle=false"]);
        assert_eq!(m.read(0, &[0, 1, 2], 10), 10);
        assert_eq!(m.read(7, &[4, 5, 6], 10), 11, "another warp's are in the same banks");
        assert_eq!(m.read(0, &[3, 7, 11], 10), 12);
        assert_eq!(m.read(0, &[0], 11), 12, "two are before it");
        assert_eq!(m.read(0, &[0], 20), 20);
        let mut ports = state(&["main-file.banks=4", "main-file.read-ports=2", "main-file.swizzle=false"]);
        assert_eq!([ports.read(0, &[0, 4], 10), ports.read(0, &[0], 10), ports.read(0, &[0, 0], 10)], [10, 11, 12]);
    }

    #[test]
    fn warps_have_their_registers_in_different_banks() {
        let m = state(&["main-file.banks=4"]);
        assert_eq!([0, 1, 2, 3, 4].map(|slot| m.bank(slot, 2)), [2, 3, 0, 1, 2]);
        let two = state(&["main-file.banks=4", "sm.schedulers=2"]);
        assert_eq!([0, 1, 2, 3].map(|slot| two.bank(slot, 0)), [0, 4, 1, 5]);
    }

    #[test]
    fn results_wait_for_a_write_port() {
        let mut m = state(&["main-file.banks=2", "main-file.swizzle=false"]);
        assert_eq!(m.write(0, &[0], 10, 14), 14);
        assert_eq!(m.write(0, &[2], 10, 13), 13, "earlier ones do not mind");
        assert_eq!(m.write(0, &[4], 11, 13), 15, "13 and 14 are taken");
        assert_eq!(m.write(0, &[1, 3], 11, 13), 14, "both words of a pair");
        assert_eq!(m.writes[0], [14, 13, 15]);
        assert_eq!(m.write(0, &[0], 14, 20), 20);
        assert_eq!(m.writes[0], [14, 15, 20], "what is over is forgotten");
    }

    #[test]
    fn a_cluster_waits_for_its_operands() {
        let mut m = state(&["main-file.banks=4", "main-file.latency=2"]);
        assert_eq!(m.collect(2, 10, 13, true, 0), Operands { start: 13, delay: 5 });
        assert_eq!(m.blocked(2, 13), Some(Blocked { until: 14, by_banks: true }));
        assert_eq!((m.blocked(2, 14), m.blocked(10, 10)), (None, None));
    }

    #[test]
    fn collectors_hold_instructions_until_their_unit_takes_them() {
        let mut m = state(&["main-file.banks=4", "main-file.collectors=2"]);
        // The first is gathered at 13; the second at 10, and its unit is busy until 20.
        assert_eq!(m.collect(2, 10, 13, true, 10), Operands { start: 13, delay: 3 });
        assert_eq!(m.blocked(2, 11), None);
        assert_eq!(m.collect(2, 11, 11, true, 20), Operands { start: 20, delay: 9 });
        assert_eq!(m.blocked(2, 12), Some(Blocked { until: 14, by_banks: true }));
        assert_eq!(m.blocked(2, 14), None);
        assert_eq!(m.collect(2, 14, 14, true, 25), Operands { start: 25, delay: 11 });
        assert_eq!(m.blocked(2, 15), Some(Blocked { until: 21, by_banks: false }));
        assert_eq!(m.blocked(10, 15), None, "another cluster's");
    }
}
