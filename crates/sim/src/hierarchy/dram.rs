//! Device memory's timing: channels, banks, open rows, bandwidth.
//!
//! A channel's bus serves requests in the order in which they are made. A bank keeps rows open while requests
//! for them are waiting: a request for a row that is still being served is a row hit, as a controller that
//! serves hits first (FR-FCFS, Rixner et al., ISCA 2000) makes of it.
//!
//! Of a request that comes at cycle `now`, with `data` the cycles of its sectors on the bus:
//!
//! ```text
//! bus    = max(now, the bus is free [+ tRTW or tWTR if the direction turns])
//!          the bus is then taken for max(data, tCCD)
//! row open:
//!   done = max(bus, activation of the row + tRCD) + row-hit + data
//! row not open:
//!   precharge  = max(now, last activation of the bank + tRAS, end of its last write + tWR)
//!   activation = max(precharge [+ tRP if a row is open], last activation of the bank + row-cycle,
//!                    last activation of the channel + tRRD)
//!   done = max(bus, activation + tRCD) + row-hit + data
//! ```
//!
//! A write ends with its data, `row-hit` before `done`: that is the way of what is read.
//!
//! Where tRCD is 0, `row-miss` stands for it with what else a miss costs: `done = max(bus, activation) +
//! row-miss + data`. Parameters of 0 drop their terms. In the first tRFC cycles of every tREFI but the first
//! neither the bus nor an activation begins, and rows opened before are closed.
//!
//! Under FR-FCFS requests wait in a queue, and `now` is the cycle at which the channel chooses one of them,
//! when its bus is free: see [`queue`]. One row of a bank is open then.

mod queue;

use crate::snapshot::Snapshot;
use heddle_target::{AddressPart, DramScheduler};
use queue::Queue;
pub use queue::{Chosen, RequestNumber};

/// Rows of a bank that requests may be waiting for at once.
const WINDOW: usize = 4;

/// A row that is open, or for which requests are waiting.
#[derive(Clone, Copy)]
struct OpenRow {
    row: u64,
    /// Cycle until which it is served.
    until: u64,
    /// Cycle of its activation.
    activated: u64,
}

/// A bank of a channel.
#[derive(Clone, Default)]
struct Bank {
    /// The first is the open one.
    rows: Vec<OpenRow>,
    /// Cycle from which another row can be opened.
    free: u64,
    /// Cycle of the last activation.
    activated: Option<u64>,
    /// Cycle at which the last write's data are in the row.
    written: Option<u64>,
}

/// A channel: a bus that serves one request after the other, and banks.
#[derive(Clone)]
struct Channel {
    /// Cycle from which the bus is free.
    free: u64,
    /// Direction of the last request: whether it wrote.
    wrote: Option<bool>,
    /// Cycle of the last activation.
    activated: Option<u64>,
    banks: Vec<Bank>,
    /// Requests that wait to be chosen.
    queue: Queue,
}

/// A request for sectors of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowAccess {
    bank: usize,
    row: u64,
    sectors: u32,
    write: bool,
}

/// Device memory's channels. Times are cycles of the SMs' clock.
pub struct Dram {
    description: heddle_target::Dram,
    addresses: AddressDecoder,
    channels: Vec<Channel>,
    /// Number of the next request that waits.
    next: RequestNumber,
    /// Requests that found their row open.
    pub row_hits: u64,
    /// Requests that did not.
    pub row_misses: u64,
}

impl Dram {
    /// Memory as described, with all rows closed.
    pub fn new(description: &heddle_target::Dram) -> Dram {
        let banks = vec![Bank::default(); description.banks as usize];
        Dram {
            description: *description,
            addresses: AddressDecoder::new(description),
            channels: vec![Channel::new(banks); description.channels as usize],
            next: 0,
            row_hits: 0,
            row_misses: 0,
        }
    }

    /// Exchanges the open rows.
    pub fn exchange(&mut self, snapshot: &mut Snapshot) {
        const MOST_OPEN: usize = 1 << 16;
        for bank in self.channels.iter_mut().flat_map(|c| &mut c.banks) {
            let open = snapshot.length(bank.rows.len(), MOST_OPEN);
            bank.rows.resize(open, OpenRow { row: 0, until: 0, activated: 0 });
            snapshot.words(bank.rows.iter_mut().map(|r| &mut r.row));
        }
    }

    /// Starts again at cycle 0. Rows stay open.
    pub fn restart_clock(&mut self) {
        for channel in &mut self.channels {
            (channel.free, channel.wrote, channel.activated) = (0, None, None);
            channel.queue = Queue::default();
            for bank in &mut channel.banks {
                (bank.free, bank.activated, bank.written) = (0, None, None);
                bank.rows.iter_mut().for_each(|r| (r.until, r.activated) = (0, 0));
            }
        }
    }

    /// Cycle at which `sectors` sectors of a line have arrived, or been written, requested at `now`.
    pub fn access(&mut self, address: u64, sectors: u32, write: bool, now: u64) -> u64 {
        let (channel, bank, row) = self.addresses.decode(address);
        let access = RowAccess { bank, row, sectors, write };
        let (done, hit) = self.channels[channel].serve(&self.description, access, now);
        self.count(hit);
        done
    }

    fn count(&mut self, hit: bool) {
        *(if hit { &mut self.row_hits } else { &mut self.row_misses }) += 1;
    }
}

impl Channel {
    fn new(banks: Vec<Bank>) -> Channel {
        Channel { free: 0, wrote: None, activated: None, banks, queue: Queue::default() }
    }

    /// Serves a request behind those before it. Returns when its last byte has been moved, and whether it found its row open.
    fn serve(&mut self, d: &heddle_target::Dram, access: RowAccess, now: u64) -> (u64, bool) {
        let RowAccess { sectors, write, .. } = access;
        let data = u64::from(d.interval) * u64::from(sectors);
        let turn = match (self.wrote, write) {
            (Some(false), true) => d.t_rtw,
            (Some(true), false) => d.t_wtr,
            _ => 0,
        };
        let bus = after_refresh(d, now.max(self.free + u64::from(turn)));
        self.free = bus + data.max(u64::from(d.t_ccd));
        self.wrote = Some(write);
        let open = self.open_row(d, access, bus, now);
        let activation = self.activation(d, access, bus, now);
        let bank = &mut self.banks[access.bank];
        let done = match open {
            Some(i) => {
                let ready = if d.t_rcd > 0 { bank.rows[i].activated + u64::from(d.t_rcd) } else { 0 };
                let done = bus.max(ready) + u64::from(d.row_hit) + data;
                bank.rows[i].until = bank.rows[i].until.max(done);
                done
            }
            None => {
                bank.free = activation + u64::from(d.row_cycle);
                (bank.activated, self.activated) = (Some(activation), Some(activation));
                let done = match d.t_rcd {
                    0 => bus.max(activation) + u64::from(d.row_miss) + data,
                    t_rcd => bus.max(activation + u64::from(t_rcd)) + u64::from(d.row_hit) + data,
                };
                bank.rows.retain(|r| r.row != access.row);
                bank.rows.insert(0, OpenRow { row: access.row, until: done, activated: activation });
                bank.rows.truncate(WINDOW);
                done
            }
        };
        if write {
            bank.written = Some(done.saturating_sub(u64::from(d.row_hit)));
        }
        (done, open.is_some())
    }

    /// Which of its bank's rows a request that takes the bus at a cycle finds open.
    fn open_row(&self, d: &heddle_target::Dram, access: RowAccess, bus: u64, now: u64) -> Option<usize> {
        let rows = &self.banks[access.bank].rows;
        let i = rows.iter().position(|r| r.row == access.row)?;
        let waits = i == 0 || d.scheduler == DramScheduler::InOrder && rows[i].until >= now;
        // What was activated before a refresh is closed.
        (waits && rows[i].activated >= last_refresh(d, bus)).then_some(i)
    }

    /// The cycle at which a request's row can be activated, if it has to be.
    fn activation(&self, d: &heddle_target::Dram, access: RowAccess, bus: u64, now: u64) -> u64 {
        let bank = &self.banks[access.bank];
        let after = |last: Option<u64>, t: u32| last.filter(|_| t > 0).map_or(0, |last| last + u64::from(t));
        let precharge = now.max(after(bank.activated, d.t_ras)).max(after(bank.written, d.t_wr));
        let activation = precharge + self.closing(d, access, bus);
        after_refresh(d, activation.max(bank.free).max(after(self.activated, d.t_rrd)))
    }

    /// Cycles to close a row before a request's can be activated.
    fn closing(&self, d: &heddle_target::Dram, access: RowAccess, bus: u64) -> u64 {
        let first = self.banks[access.bank].rows.first();
        if first.is_some_and(|r| r.activated >= last_refresh(d, bus)) { u64::from(d.t_rp) } else { 0 }
    }
}

/// The first cycle from `cycle` on that is in no refresh.
#[inline]
fn after_refresh(d: &heddle_target::Dram, cycle: u64) -> u64 {
    let begin = last_refresh(d, cycle);
    if begin == 0 { cycle } else { cycle.max(begin + u64::from(d.t_rfc)) }
}

/// Begin of the last refresh until a cycle; 0 before the first one.
#[inline]
fn last_refresh(d: &heddle_target::Dram, cycle: u64) -> u64 {
    cycle.checked_div(u64::from(d.t_refi)).map_or(0, |n| n * u64::from(d.t_refi))
}

/// Cuts addresses into channel, bank and row.
struct AddressDecoder {
    /// Parts from the lower bits on, each with how many values it has; all that is above them is row.
    digits: Vec<(AddressPart, Divisor)>,
    channels: Divisor,
    banks: Divisor,
    hash: bool,
}

/// A number to divide by, nearly always a power of two.
#[derive(Clone, Copy)]
struct Divisor {
    value: u64,
    /// What a power of two shifts by.
    shift: Option<u32>,
}

impl Divisor {
    fn new(value: u64) -> Divisor {
        Divisor { value, shift: value.is_power_of_two().then(|| value.trailing_zeros()) }
    }

    /// Quotient and remainder.
    #[inline]
    fn divide(self, x: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (x >> shift, x & (self.value - 1)),
            None => (x / self.value, x % self.value),
        }
    }
}

impl AddressDecoder {
    fn new(d: &heddle_target::Dram) -> AddressDecoder {
        let (channels, banks) = (u64::from(d.channels), u64::from(d.banks));
        let column_bits = d.row_bytes.trailing_zeros();
        // What stands without a number of bits is what the others leave.
        let numbered: u32 = d.mapping.from_low().filter(|f| f.part == AddressPart::Column).filter_map(|f| f.bits).sum();
        let mut left = column_bits;
        let mut digits = Vec::new();
        for field in d.mapping.from_low() {
            let values = match field.part {
                AddressPart::Channel => channels,
                AddressPart::Bank => banks,
                AddressPart::Column => {
                    let bits = field.bits.unwrap_or(column_bits.saturating_sub(numbered)).min(left);
                    left -= bits;
                    1 << bits
                }
                AddressPart::Row => match field.bits {
                    Some(bits) => 1 << bits,
                    None => continue,
                },
            };
            digits.push((field.part, Divisor::new(values)));
        }
        AddressDecoder { digits, channels: Divisor::new(channels), banks: Divisor::new(banks), hash: d.hash }
    }

    /// Channel, bank and row of an address.
    fn decode(&self, address: u64) -> (usize, usize, u64) {
        let (mut rest, mut row, mut row_scale) = (address, 0, 1);
        let (mut channel, mut bank) = (0, 0);
        for (part, values) in &self.digits {
            let (above, digit) = values.divide(rest);
            match part {
                // Upper bits are folded in, so that power-of-two pitches spread over channels and banks.
                AddressPart::Channel if self.hash => channel = self.channels.divide(rest ^ (rest >> 7) ^ (rest >> 13)).1,
                AddressPart::Channel => channel = digit,
                AddressPart::Bank => bank = digit,
                AddressPart::Row => (row, row_scale) = (row + digit * row_scale, row_scale * values.value),
                AddressPart::Column => {}
            }
            rest = above;
        }
        row += rest * row_scale;
        if self.hash {
            let page = row * self.banks.value + bank;
            bank = self.banks.divide(page ^ row ^ self.banks.divide(row).0).1;
        }
        (channel as usize, bank as usize, row)
    }
}

#[cfg(test)]
mod tests;
