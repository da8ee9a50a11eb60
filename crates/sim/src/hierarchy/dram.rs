//! Device memory's timing: channels, banks, open rows, bandwidth.
//!
//! A channel's bus serves requests in the order of their arrival. A bank keeps rows open while requests for
//! them are waiting: a request for a row that is still being served is a row hit, as a controller that serves
//! hits first (FR-FCFS, Rixner et al., ISCA 2000) makes of it.

/// Rows of a bank that requests may be waiting for at once.
const WINDOW: usize = 4;

/// A bank of a channel.
#[derive(Clone, Default)]
struct Bank {
    /// Rows with the cycle until which they are served; the first is the open one.
    rows: Vec<(u64, u64)>,
    /// Cycle from which another row can be opened.
    free: u64,
}

/// A channel: a bus that serves one request after the other, and banks.
#[derive(Clone)]
struct Channel {
    /// Cycle from which the bus is free.
    free: u64,
    banks: Vec<Bank>,
}

/// Device memory's channels. Times are cycles of the SMs' clock.
pub struct Dram {
    description: heddle_target::Dram,
    channels: Vec<Channel>,
    /// Requests that found their row open.
    pub row_hits: u64,
    /// Requests that did not.
    pub row_misses: u64,
}

/// Bytes that lie in one channel before the next one's follow.
const INTERLEAVE: u64 = 256;

impl Dram {
    /// Memory as described, with all rows closed.
    pub fn new(description: &heddle_target::Dram) -> Dram {
        let bank = vec![Bank::default(); description.banks as usize];
        Dram {
            description: *description,
            channels: vec![Channel { free: 0, banks: bank }; description.channels as usize],
            row_hits: 0,
            row_misses: 0,
        }
    }

    /// Starts again at cycle 0.
    pub fn restart_clock(&mut self) {
        for channel in &mut self.channels {
            channel.free = 0;
            for bank in &mut channel.banks {
                bank.free = 0;
                bank.rows.iter_mut().for_each(|r| r.1 = 0);
            }
        }
    }

    /// Cycle at which `sectors` sectors of a line arrive (or have been written), requested at `now`.
    pub fn access(&mut self, address: u64, sectors: u32, now: u64) -> u64 {
        let d = &self.description;
        let block = address / INTERLEAVE;
        let channels = u64::from(d.channels);
        // Upper bits are folded in, so that power-of-two pitches spread over channels and banks.
        let number = (block ^ (block >> 7) ^ (block >> 13)) % channels;
        let inside = block / channels * INTERLEAVE + address % INTERLEAVE;
        let page = inside / u64::from(d.row_bytes);
        let banks = u64::from(d.banks);
        let (bank, row) = ((page ^ (page / banks) ^ (page / banks / banks)) % banks, page / banks);
        let channel = &mut self.channels[number as usize];
        let bank = &mut channel.banks[bank as usize];
        let at = bank.rows.iter().position(|(r, _)| *r == row);
        let open = at.filter(|i| *i == 0 || bank.rows[*i].1 >= now);
        let slot = u64::from(d.interval * sectors);
        let bus = channel.free.max(now);
        channel.free = bus + slot;
        match open {
            Some(i) => {
                self.row_hits += 1;
                let done = bus.max(now) + u64::from(d.row_hit) + slot;
                bank.rows[i].1 = bank.rows[i].1.max(done);
                done
            }
            None => {
                self.row_misses += 1;
                let begin = bank.free.max(now);
                bank.free = begin + u64::from(d.row_cycle);
                let done = bus.max(begin) + u64::from(d.row_miss) + slot;
                if let Some(i) = at {
                    bank.rows.remove(i);
                }
                bank.rows.insert(0, (row, done));
                bank.rows.truncate(WINDOW);
                done
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dram() -> Dram {
        let description = heddle_target::Dram {
            channels: 2,
            banks: 4,
            row_bytes: 1024,
            row_hit: 100,
            row_miss: 150,
            row_cycle: 40,
            interval: 4,
            ..heddle_target::Machine::default_machine().memory.dram
        };
        Dram::new(&description)
    }

    #[test]
    fn rows_stay_open_and_the_bus_takes_turns() {
        let mut d = dram();
        assert_eq!(d.access(0, 4, 0), 150 + 16);
        // The same row: behind the first transfer.
        assert_eq!(d.access(128, 4, 0), 16 + 100 + 16);
        // The other channel is idle.
        assert_eq!(d.access(256, 1, 0), 150 + 4);
        assert_eq!((d.row_hits, d.row_misses), (1, 2));
        // Later the row is still open.
        assert_eq!(d.access(0, 1, 1000), 1000 + 100 + 4);
    }

    #[test]
    fn another_row_of_the_bank_waits_for_the_row_cycle() {
        let mut d = dram();
        let other = (0..).map(|i| i * 512).skip(1);
        let _first = d.access(0, 1, 0);
        // Find an address of the same channel and bank, another row, by what it costs.
        let late = other.take(4096).find(|a| {
            let mut d = dram();
            d.access(0, 1, 0);
            d.access(*a, 1, 0) == 40 + 150 + 4
        });
        assert!(late.is_some());
        assert_eq!(d.access(late.unwrap(), 1, 0), 40 + 150 + 4);
    }
}
