//! Requests that wait for their channel (FR-FCFS: Rixner, Dally, Kapasi, Mattson, Owens, ISCA 2000).
//!
//! When its bus is free, a channel chooses among the oldest requests that have come, as many as its queue
//! holds: the oldest whose row is open; else the oldest whose bank can begin to open another one at once;
//! else it waits until one of these can be. When the oldest has waited for `starvation` cycles it alone can
//! be chosen. Age counts from a request's arrival; of those of one cycle, the one made first is older.

use super::{Channel, Dram, RowAccess, after_refresh, last_refresh};

/// Number of a request that waits, in the order in which they are made.
pub type RequestNumber = u32;

/// A request that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    arrives: u64,
    number: RequestNumber,
    access: RowAccess,
}

/// A request that has been chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Which.
    pub number: RequestNumber,
    /// The cycle of the choice.
    pub at: u64,
    /// Cycle at which its last byte has been moved.
    pub done: u64,
}

/// The requests of a channel that wait, by age.
#[derive(Clone, Default)]
pub struct Queue(Vec<Waiting>);

/// What a channel does next.
enum Choice {
    /// It serves the request at a place of the queue at a cycle.
    Serve(usize, u64),
    /// It knows more at a cycle.
    Wait(u64),
}

impl Dram {
    /// A request arrives at a cycle and waits to be chosen.
    pub fn enqueue(&mut self, address: u64, sectors: u32, write: bool, arrives: u64) -> RequestNumber {
        let (channel, bank, row) = self.addresses.decode(address);
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let queue = &mut self.channels[channel].queue.0;
        let at = queue.iter().rposition(|w| w.arrives <= arrives).map_or(0, |i| i + 1);
        queue.insert(at, Waiting { arrives, number, access: RowAccess { bank, row, sectors, write } });
        number
    }

    /// Lets channels choose before a cycle, until which all requests have been made that arrive before it.
    /// `chosen` hears of each.
    pub fn advance(&mut self, before: u64, chosen: &mut Vec<Chosen>) {
        let Dram { description: d, channels, row_hits, row_misses, .. } = self;
        for channel in channels {
            let mut cycle = 0;
            while let Some(oldest) = channel.queue.0.first() {
                cycle = after_refresh(d, cycle.max(channel.free).max(oldest.arrives));
                if cycle >= before {
                    break;
                }
                match channel.choose(d, cycle) {
                    Choice::Wait(until) => cycle = until,
                    Choice::Serve(i, at) => {
                        let Waiting { number, access, .. } = channel.queue.0.remove(i);
                        let (done, hit) = channel.serve(d, access, at);
                        *(if hit { &mut *row_hits } else { &mut *row_misses }) += 1;
                        chosen.push(Chosen { number, at, done });
                    }
                }
            }
        }
    }

    /// Serves a request that waits before all others, from a cycle on.
    pub fn serve_at_once(&mut self, number: RequestNumber, now: u64) -> Option<Chosen> {
        let find = |c: &Channel| c.queue.0.iter().position(|w| w.number == number);
        let (channel, i) = self.channels.iter_mut().find_map(|c| find(c).map(|i| (c, i)))?;
        let Waiting { access, arrives, .. } = channel.queue.0.remove(i);
        let at = now.max(arrives).max(channel.free);
        let (done, hit) = channel.serve(&self.description, access, at);
        self.count(hit);
        Some(Chosen { number, at, done })
    }
}

impl Channel {
    /// What the channel does at a cycle in which its bus is free.
    fn choose(&self, d: &heddle_target::Dram, cycle: u64) -> Choice {
        let come = self.queue.0.iter().take_while(|w| w.arrives <= cycle).count();
        let candidates = &self.queue.0[..come.min(d.queue as usize)];
        let is_open = |w: &Waiting| self.open_row(d, w.access, cycle, cycle).is_some();
        let begins = |w: &Waiting| self.begins(d, w.access, cycle);
        let starves = d.starvation > 0 && candidates.first().is_some_and(|w| cycle >= w.arrives + u64::from(d.starvation));
        let eligible = if starves { &candidates[..1] } else { candidates };
        let first = eligible.iter().position(is_open).or_else(|| eligible.iter().position(|w| begins(w) <= cycle));
        if let Some(i) = first {
            return Choice::Serve(i, cycle);
        }
        // Until a bank can open a row, or a request comes to the queue.
        let ready = eligible.iter().map(begins).min().unwrap_or(u64::MAX);
        let comes = if candidates.len() < d.queue as usize { self.queue.0.get(come).map(|w| w.arrives) } else { None };
        let comes = comes.filter(|_| !starves).unwrap_or(u64::MAX);
        Choice::Wait(ready.min(comes).max(cycle + 1))
    }

    /// The cycle from which a request whose row is not open would wait for nothing but what opening it takes.
    fn begins(&self, d: &heddle_target::Dram, access: RowAccess, cycle: u64) -> u64 {
        let closing = self.closing(d, access, cycle);
        let begins = self.activation(d, access, cycle, cycle) - closing;
        // Behind the next refresh rows are closed, so that the bank is looked at again then.
        let next_refresh = last_refresh(d, cycle) + u64::from(d.t_refi);
        if d.t_refi > 0 { begins.min(next_refresh.max(cycle + 1)) } else { begins }
    }
}

#[cfg(test)]
mod tests;
