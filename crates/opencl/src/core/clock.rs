//! The device's time, which profiling reports.
//!
//! In functional mode nothing has a simulated duration and the clock is the host's. In timing mode it is
//! simulated: it stands still but for kernels, which take their cycles over the machine's frequency, and
//! copies, which take their bytes over a bandwidth.

use std::sync::atomic::{AtomicU64, Ordering};

use heddle_target::Machine;

/// Nanoseconds of the host's monotonic clock.
pub fn host_nanoseconds() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a place for the answer.
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) } != 0 {
        return 0;
    }
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Between the host's memory and the device's.
    Link,
    /// Inside device memory.
    Dram,
}

/// The clock of a device.
pub struct Clock {
    /// Simulated nanoseconds, in timing mode.
    simulated: Option<AtomicU64>,
    mhz: f64,
    link_bytes_a_cycle: f64,
    dram_bytes_a_cycle: f64,
}

/// The simulated clock begins here: zero means "not yet" to many programs.
const BEGIN: u64 = 1_000;

impl Clock {
    /// Of a machine, simulated or the host's.
    pub fn new(machine: &Machine, simulated: bool) -> Clock {
        let memory = &machine.memory;
        let sector = f64::from(memory.sector_bytes);
        Clock {
            simulated: simulated.then(|| AtomicU64::new(BEGIN)),
            mhz: machine.clock_mhz,
            link_bytes_a_cycle: sector / f64::from(memory.system.interval.max(1)),
            dram_bytes_a_cycle: sector * f64::from(memory.dram.channels) / f64::from(memory.dram.interval.max(1)),
        }
    }

    /// Whether time is simulated.
    pub fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// The device's nanoseconds.
    pub fn now(&self) -> u64 {
        self.simulated.as_ref().map_or_else(host_nanoseconds, |t| t.load(Ordering::Relaxed))
    }

    /// Nanoseconds of a kernel's cycles.
    pub fn cycles(&self, cycles: u64) -> u64 {
        (cycles as f64 * 1_000.0 / self.mhz).round() as u64
    }

    /// Nanoseconds of a copy. Inside device memory each byte is read and written.
    pub fn copy(&self, path: Path, bytes: u64) -> u64 {
        let cycles = match path {
            Path::Link => bytes as f64 / self.link_bytes_a_cycle,
            Path::Dram => 2.0 * bytes as f64 / self.dram_bytes_a_cycle,
        };
        (cycles * 1_000.0 / self.mhz).round() as u64
    }

    /// Begin and end of a command that was executed from `begin` on. In timing mode it takes what it says, and
    /// the clock goes on by as much. A timed command of functional mode takes no longer than it says.
    pub fn execution(&self, begin: u64, takes: Option<u64>) -> (u64, u64) {
        match &self.simulated {
            Some(clock) => {
                let takes = takes.unwrap_or(0);
                let begin = clock.fetch_add(takes, Ordering::Relaxed);
                (begin, begin + takes)
            }
            None => {
                let now = self.now();
                (begin, takes.map_or(now, |t| begin + t))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_stands_still_but_for_commands() {
        let machine = Machine::default_machine();
        let clock = Clock::new(&machine, true);
        let begin = clock.now();
        assert_eq!(clock.now(), begin);
        let kernel = clock.cycles(machine.clock_mhz as u64);
        assert_eq!(kernel, 1_000);
        assert_eq!(clock.execution(0, Some(kernel)), (begin, begin + kernel));
        assert_eq!(clock.now(), begin + kernel);
        let sectors = clock.copy(Path::Link, u64::from(machine.memory.sector_bytes) * 1000);
        assert_eq!(sectors, clock.cycles(u64::from(machine.memory.system.interval) * 1000));
    }

    #[test]
    fn host_time_goes_on() {
        let clock = Clock::new(&Machine::default_machine(), false);
        let begin = clock.now();
        let (started, ended) = clock.execution(begin, None);
        assert!(started == begin && ended >= begin);
        assert_eq!(clock.execution(begin, Some(70)), (begin, begin + 70));
    }
}
