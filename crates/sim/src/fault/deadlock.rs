//! The report of a deadlock: who waits for whom.

use std::fmt;

/// Warps that a message lists at most.
const LISTED: usize = 4;

/// A launch that makes no progress any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deadlock {
    /// The warps that wait, in the order of their work-groups; those in loops first within a group.
    pub warps: Vec<WaitingWarp>,
    /// Work-groups that hold these warps.
    pub resident: u64,
    /// Work-groups that have not begun, because the machine holds no more.
    pub not_begun: u64,
    /// The lanes of a warp make progress in turn.
    pub independent: bool,
    /// Work-groups ran one after the other, so that nothing is said of what others would have written.
    pub one_by_one: bool,
}

/// A warp that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitingWarp {
    /// Its work-group.
    pub group_id: [u32; 3],
    /// Its number there.
    pub warp: u32,
    /// At a barrier; else in a loop.
    pub barrier: bool,
    /// Work-items that do.
    pub lanes: u32,
    /// The first one's local id.
    pub local_id: [u32; 3],
    /// Instruction of the barrier or of the loop.
    pub index: Option<u32>,
    /// `file:line` of it, if known.
    pub source: Option<String>,
    /// What the loop reads, and would have to change.
    pub awaits: Vec<Awaited>,
    /// Work-items of the warp that wait for those in the loop.
    pub held: Vec<Held>,
}

/// A place in memory that a loop looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The space's name.
    pub space: &'static str,
    /// Address of the first work-item's access.
    pub address: u64,
    /// The buffer or variable it is in, in words, and how far from its start.
    pub buffer: Option<(String, u64)>,
    /// `file:line` of the access, if known.
    pub source: Option<String>,
}

/// Work-items that wait for others of their warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// How many.
    pub lanes: u32,
    /// The first one's local id.
    pub local_id: [u32; 3],
    /// `file:line` where they go on, if known.
    pub source: Option<String>,
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// `1 work-item`, `2 work-items`.
fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Some work-items, by the first one.
fn items(lanes: u32, local_id: [u32; 3]) -> String {
    match lanes {
        1 => format!("work-item local {}", triple(local_id)),
        _ => format!("{lanes} work-items from local {} on", triple(local_id)),
    }
}

/// A place in the source.
fn at(source: Option<&String>) -> String {
    source.map_or_else(|| "an unknown line".into(), Clone::clone)
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} memory at ", self.space)?;
        match &self.buffer {
            Some((name, offset)) => write!(f, "offset {offset} of {name}"),
            None => write!(f, "address {:#x}", self.address),
        }
    }
}

impl fmt::Display for WaitingWarp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let who = items(self.lanes, self.local_id);
        write!(f, "work-group {}, warp {}: {who}", triple(self.group_id), self.warp)?;
        let verb = if self.lanes == 1 { "s" } else { "" };
        if self.barrier {
            return write!(f, " stand{verb} at the barrier of {}", at(self.source.as_ref()));
        }
        write!(f, " repeat{verb} {}", at(self.source.as_ref()))?;
        match &self.awaits[..] {
            [] => write!(f, ", which reads nothing that could change")?,
            [one] => write!(f, " until {one} changes")?,
            [first, rest @ ..] => {
                write!(f, " until {first}")?;
                rest.iter().try_for_each(|a| write!(f, " or {a}"))?;
                write!(f, " changes")?;
            }
        }
        for held in &self.held {
            let verb = if held.lanes == 1 { "waits" } else { "wait" };
            let who = items(held.lanes, held.local_id);
            write!(f, "; {who} of the same warp {verb} for them before {}", at(held.source.as_ref()))?;
        }
        Ok(())
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.one_by_one {
            false => write!(f, "deadlock: no work-item of the launch makes progress any more")?,
            true => write!(f, "deadlock: no work-item of the work-group makes progress any more")?,
        }
        for warp in self.warps.iter().take(LISTED) {
            write!(f, "\n  {warp}")?;
        }
        if let Some(more) = self.warps.len().checked_sub(LISTED).filter(|m| *m > 0) {
            write!(f, "\n  and {} more", counted(more as u64, "warp"))?;
        }
        if self.not_begun > 0 {
            let (left, held) = (counted(self.not_begun, "work-group"), counted(self.resident, "work-group"));
            let have = if self.not_begun == 1 { "has" } else { "have" };
            write!(f, "\n  {left} {have} not begun: the machine holds {held} of this kernel at once, and none of them ends")?;
        }
        if self.one_by_one {
            write!(f, "\n  work-groups run one after the other here: what another one would write does not come")?;
        }
        if self.not_begun == 0 && !self.one_by_one && !self.independent && self.warps.iter().any(|w| !w.held.is_empty()) {
            write!(
                f,
                "\n  work-items that have left a loop wait for those of their warp that are still in it: take and release a \
                 lock for one work-item of a warp at a time, or run on a machine with sm.independent-threads=true"
            )?;
        }
        Ok(())
    }
}
