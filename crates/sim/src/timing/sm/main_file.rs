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

use super::super::port_plan::{Port, PortKind, PortPlan};
use super::super::statics::{Static, Way};
use super::super::warp_set::WarpSet;
use super::{LaunchContext, SLOTS, Sm};
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocked {
    /// The first cycle in which it can.
    pub until: u64,
    /// Operands are being read, else a unit is what everything waits for.
    pub by_banks: bool,
}

/// What a cluster's issue waits for.
#[derive(Clone, Default)]
struct ClusterState {
    /// From when on it may issue, and why not before.
    blocked: Blocked,
    collectors: Collectors,
}

/// A cluster's operand collectors.
#[derive(Clone)]
enum Collectors {
    /// As many as most machines have.
    Two([Collector; 2]),
    /// Any number.
    Some(Vec<Collector>),
}

impl Default for Collectors {
    fn default() -> Self {
        Collectors::Some(Vec::new())
    }
}

impl Collectors {
    /// So many.
    fn new(count: u32) -> Collectors {
        let one = Collector::default();
        if count == 2 { Collectors::Two([one; 2]) } else { Collectors::Some(vec![one; count as usize]) }
    }

    /// The one that is free first, of several the first one; `None` where there are none.
    #[inline(always)]
    fn first_free(&mut self) -> Option<&mut Collector> {
        match self {
            Collectors::Two([first, second]) => Some(if second.free_from < first.free_from { second } else { first }),
            Collectors::Some(list) => list.iter_mut().min_by_key(|collector| collector.free_from),
        }
    }
}

/// Where a slot's warp has its registers.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The first bank of its scheduler.
    first: u16,
    /// The bank of its register 0 among these.
    turn: u8,
}

/// The main register files of an SM's schedulers.
pub(super) struct MainFileState {
    described: MainFile,
    /// By slot.
    places: Vec<Place>,
    /// By scheduler and bank: the first cycle in which a read port is free, times the ports, plus how many are taken in it.
    reads: Vec<u64>,
    /// By scheduler, bank and port: the cycles in which it writes. Of several ports the first that is free is taken.
    writes: Vec<TakenCycles>,
    /// By number, among those of scalar units and front ends.
    states: Vec<ClusterState>,
    /// The clusters' numbers.
    clusters: Vec<u16>,
    /// From when on all clusters may issue.
    all_free_from: u64,
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
        let (schedulers, banks) = (plan.schedulers(), described.banks as usize);
        let place = |slot: usize| Place {
            first: (slot % schedulers * banks) as u16,
            turn: if described.swizzle { (slot / schedulers).checked_rem(banks).unwrap_or(0) as u8 } else { 0 },
        };
        Some(Box::new(MainFileState {
            described,
            places: (0..SLOTS).map(place).collect(),
            reads: vec![0; banks * schedulers],
            writes: vec![TakenCycles::default(); banks * schedulers * described.write_ports as usize],
            states: vec![
                ClusterState { blocked: Blocked::default(), collectors: Collectors::new(described.collectors) };
                plan.slots
            ],
            clusters: plan.clusters().collect(),
            all_free_from: 0,
        }))
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let writes: usize = self.writes.iter().map(|w| size_of::<TakenCycles>() + size_of_val(&w.words[..])).sum();
        let collectors = |state: &ClusterState| match &state.collectors {
            Collectors::Two(_) => 0,
            Collectors::Some(list) => size_of_val(&list[..]),
        };
        let states = size_of_val(&self.states[..]) + self.states.iter().map(collectors).sum::<usize>();
        let clusters = states + size_of_val(&self.clusters[..]);
        size_of_val(&self.reads[..]) + size_of_val(&self.places[..]) + writes + clusters
    }

    /// Whether instructions wait in collectors for operands and units.
    #[inline(always)]
    pub fn collects(&self) -> bool {
        self.described.collectors > 0
    }

    /// The bank of a register of a place's warp; `column`: its number modulo the number of banks.
    #[inline(always)]
    fn bank(&self, place: Place, column: u8) -> usize {
        let (banks, turned) = (self.described.banks, u32::from(column) + u32::from(place.turn));
        usize::from(place.first) + (if turned >= banks { turned - banks } else { turned }) as usize
    }

    /// Reads words of a slot's warp from a cycle on; returns the cycle in which the last one is read. `columns`: the registers
    /// modulo the number of banks.
    #[inline(always)]
    pub fn read(&mut self, slot: usize, columns: &[u8], now: u64) -> u64 {
        let mut last = now;
        if self.described.banks == 0 {
            return last;
        }
        let (place, ports) = (self.places[slot], u64::from(self.described.read_ports));
        for column in columns {
            let bank = self.bank(place, *column);
            let free = self.reads[bank].max(now * ports);
            last = last.max(if ports == 1 { free } else { free / ports });
            self.reads[bank] = free + 1;
        }
        last
    }

    /// Writes words of a slot's warp in a cycle, at the earliest; returns the cycle in which the last one is written. `columns`:
    /// the registers modulo the number of banks.
    #[inline(always)]
    pub fn write(&mut self, slot: usize, columns: &[u8], now: u64, result: u64) -> u64 {
        let mut last = result;
        if self.described.banks == 0 {
            return last;
        }
        let (place, ports) = (self.places[slot], self.described.write_ports as usize);
        for column in columns {
            let bank = self.bank(place, *column);
            if ports == 1 {
                let port = &mut self.writes[bank];
                let cycle = port.first_free(result);
                port.take(now, cycle);
                last = last.max(cycle);
                continue;
            }
            let ports = &mut self.writes[bank * ports..][..ports];
            // A port writes in no cycle in which one before it does not.
            let cycle = ports[ports.len() - 1].first_free(result);
            if let Some(port) = ports.iter_mut().find(|port| port.first_free(cycle) == cycle) {
                port.take(now, cycle);
            }
            last = last.max(cycle);
        }
        last
    }

    /// The clusters that issue nothing at a cycle, and why.
    #[inline(always)]
    pub fn all_blocked(&self, now: u64) -> impl Iterator<Item = (usize, Blocked)> {
        let some = if self.all_free_from > now { &self.clusters[..] } else { &[] };
        some.iter().map(|k| (usize::from(*k), self.states[usize::from(*k)].blocked)).filter(move |(_, b)| b.until > now)
    }

    /// Why a cluster issues nothing at a cycle.
    #[inline(always)]
    pub fn blocked(&self, cluster: usize, now: u64) -> Option<Blocked> {
        let blocked = self.states[cluster].blocked;
        (blocked.until > now).then_some(blocked)
    }

    /// When an instruction has its operands that issues to a cluster and reads its last word in a cycle; its unit is
    /// free from some cycle on.
    #[inline(always)]
    pub fn collect(&mut self, cluster: usize, now: u64, last: u64, reads: bool, unit_free: u64) -> Operands {
        let gathered = last + if reads { u64::from(self.described.latency) } else { 0 };
        let start = gathered.max(unit_free);
        let ClusterState { blocked, collectors } = &mut self.states[cluster];
        let Some(free) = collectors.first_free() else {
            *blocked = Blocked { until: last + 1, by_banks: true };
            self.all_free_from = self.all_free_from.max(last + 1);
            return Operands { start: last, delay: gathered - now };
        };
        *free = Collector { free_from: start + 1, gathered };
        let next = collectors.first_free().map_or_else(Collector::default, |next| *next);
        // An instruction that has its operands and is still there waits for its unit.
        *blocked = Blocked { until: next.free_from, by_banks: next.gathered + 1 >= next.free_from };
        self.all_free_from = self.all_free_from.max(next.free_from);
        Operands { start, delay: start - now }
    }

    /// The same on the scalar unit.
    #[inline(always)]
    pub fn collect_scalar(&self, now: u64, last: u64, reads: bool) -> Operands {
        let gathered = last + if reads { u64::from(self.described.latency) } else { 0 };
        Operands { start: now, delay: gathered - now }
    }
}

/// Cycles that are taken, a bit each, in a ring of as many words as they have needed.
#[derive(Clone, Default)]
struct TakenCycles {
    /// The first word: cycles divided by 64. Those before it are over.
    first: u64,
    /// As many as a power of two, by their numbers modulo that.
    words: Vec<u64>,
}

impl TakenCycles {
    /// The first cycle from one on that is not taken.
    #[inline(always)]
    fn first_free(&self, mut at: u64) -> u64 {
        while at / 64 < self.first + self.words.len() as u64 {
            let free = !self.words[(at / 64) as usize & (self.words.len() - 1)] >> (at % 64);
            if free != 0 {
                return at + u64::from(free.trailing_zeros());
            }
            at = (at / 64 + 1) * 64;
        }
        at
    }

    /// Takes a cycle; those before `now` are over.
    #[inline(always)]
    fn take(&mut self, now: u64, at: u64) {
        if at / 64 >= self.first + self.words.len() as u64 {
            self.move_on(now / 64, at / 64);
        }
        let place = (at / 64) as usize & (self.words.len() - 1);
        self.words[place] |= 1 << (at % 64);
    }

    /// Makes room for a word, where those before `from` are over.
    #[cold]
    fn move_on(&mut self, from: u64, to: u64) {
        let from = from.max(self.first);
        let kept: Vec<(u64, u64)> = (from..self.first + self.words.len() as u64)
            .map(|word| (word, self.words[word as usize & (self.words.len() - 1)]))
            .collect();
        let needed = ((to + 1 - from) as usize).next_power_of_two();
        let length = needed.max(self.words.len()).max(4);
        self.words.clear();
        self.words.resize(length, 0);
        self.first = from;
        for (word, bits) in kept {
            self.words[word as usize & (length - 1)] = bits;
        }
    }
}

impl<'a, const N: usize, const W: usize> Sm<'a, N, W> {
    /// The cycle until which the cluster of a port, or the unit behind it, takes no instruction, and the warps that this stops.
    #[inline]
    pub(super) fn blocked_by_main_file(&mut self, port: Port, now: u64) -> Option<(u64, WarpSet<W>)> {
        let main = self.main_file.as_ref()?;
        if port.kind != PortKind::Unit {
            return None;
        }
        if let Some(blocked) = main.blocked(usize::from(port.cluster), now) {
            let stopped = self.ports.warps_of_cluster(port);
            if blocked.by_banks {
                self.states.conflicted = self.states.conflicted | stopped;
            }
            return Some((blocked.until, stopped));
        }
        let busy = if main.collects() { None } else { self.ports.busy_until(port, now) };
        busy.map(|until| (until, self.ports.warps(port)))
    }

    /// An instruction of a slot's warp that issues through a port reads its operands in the main file.
    #[inline(always)]
    pub(super) fn read_main_file(
        &mut self,
        c: &LaunchContext<'a, N>,
        (s, st): (usize, &Static),
        port: Port,
        now: u64,
        scalar: bool,
    ) -> Operands {
        let Some(main) = self.main_file.as_mut() else { return Operands { start: now, delay: 0 } };
        let words = c.statics.main_reads(st);
        let mut last = now;
        if !words.is_empty() {
            last = main.read(s, words, now);
            self.counters.main_file.read_words += words.len() as u64;
            self.counters.main_file.read_conflicts += last - now;
        }
        if scalar || st.control {
            return main.collect_scalar(now, last, !words.is_empty());
        }
        main.collect(usize::from(port.cluster), now, last, !words.is_empty(), self.ports.free_from(port))
    }

    /// The cycle in which the result of an instruction is in the main file, if that is where it goes, at the earliest.
    #[inline(always)]
    pub(super) fn write_main_file(&mut self, c: &LaunchContext<'a, N>, (s, st): (usize, &Static), now: u64, result: u64) -> u64 {
        let words = c.statics.main_writes(st);
        let Some(main) = self.main_file.as_mut() else { return result };
        if words.is_empty() || st.way != Way::Free {
            return result;
        }
        let written = main.write(s, words, now, result);
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
        assert_eq!(m.read(7, &[0, 1, 2], 10), 11, "another warp's are in the same banks");
        assert_eq!(m.read(0, &[3, 3, 3], 10), 12);
        assert_eq!(m.read(0, &[0], 11), 12, "two are before it");
        assert_eq!(m.read(0, &[0], 20), 20);
        let mut ports = state(&["main-file.banks=4", "main-file.read-ports=2", "main-file.swizzle=false"]);
        assert_eq!([ports.read(0, &[0, 0], 10), ports.read(0, &[0], 10), ports.read(0, &[0, 0], 10)], [10, 11, 12]);
    }

    #[test]
    fn warps_have_their_registers_in_different_banks() {
        let m = state(&["main-file.banks=4"]);
        assert_eq!([0, 1, 2, 3, 4].map(|slot| m.bank(m.places[slot], 2)), [2, 3, 0, 1, 2]);
        let two = state(&["main-file.banks=4", "sm.schedulers=2"]);
        assert_eq!([0, 1, 2, 3].map(|slot| two.bank(two.places[slot], 0)), [0, 4, 1, 5]);
    }

    #[test]
    fn results_wait_for_a_write_port() {
        let mut m = state(&["main-file.banks=2", "main-file.swizzle=false"]);
        assert_eq!(m.write(0, &[0], 10, 14), 14);
        assert_eq!(m.write(0, &[0], 10, 13), 13, "earlier ones do not mind");
        assert_eq!(m.write(0, &[0], 11, 13), 15, "13 and 14 are taken");
        assert_eq!(m.write(0, &[1, 1], 11, 13), 14, "both words of a pair");
        assert_eq!(m.write(0, &[0], 14, 20), 20);
        let mut two = state(&["main-file.banks=2", "main-file.write-ports=2", "main-file.swizzle=false"]);
        assert_eq!([14, 14, 13, 14, 13, 13].map(|cycle| two.write(0, &[1], 10, cycle)), [14, 14, 13, 15, 13, 15]);
    }

    #[test]
    fn taken_cycles_are_kept_until_they_are_over() {
        let mut taken = TakenCycles::default();
        let mut all = std::collections::BTreeSet::new();
        let mut x = 1u64;
        for now in 0..3000u64 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Now and then a result that takes longer than the ring reaches.
            let wanted = now + if now % 500 == 77 { 1000 } else { (x >> 33) % 40 };
            let expected = (wanted..).find(|c| !all.contains(c)).unwrap();
            assert_eq!(taken.first_free(wanted), expected, "{now}");
            taken.take(now, expected);
            all.insert(expected);
        }
        assert!(taken.words.len() <= 32, "{}", taken.words.len());
    }

    #[test]
    fn a_cluster_waits_for_its_operands() {
        let mut m = state(&["main-file.banks=4", "main-file.latency=2"]);
        assert_eq!(m.collect(2, 10, 13, true, 0), Operands { start: 13, delay: 5 });
        assert_eq!(m.blocked(2, 13), Some(Blocked { until: 14, by_banks: true }));
        assert_eq!((m.blocked(2, 14), m.blocked(3, 10)), (None, None));
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
        assert_eq!(m.blocked(3, 15), None, "another cluster's");
    }
}
