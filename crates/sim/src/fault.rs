//! Faults: what a program did wrong, in words its author understands.

mod deadlock;

use std::fmt;

pub use deadlock::{Awaited, Deadlock, Held, WaitingWarp};

use super::Launch;

/// Two accesses that nothing orders, at least one of them a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The space's name.
    pub space: &'static str,
    /// First address they share.
    pub address: u64,
    /// The buffer or variable it is in, in words, and how far from its start.
    pub buffer: Option<(String, u64)>,
    /// The access that found the race: `load`, `store` or `atomic`. Its place is the fault's.
    pub access: &'static str,
    /// Its work-item.
    pub local_id: [u32; 3],
    /// Its work-group.
    pub group_id: [u32; 3],
    /// The earlier access.
    pub other_access: &'static str,
    /// `file:line` of it.
    pub other_source: Option<String>,
    /// Its work-item.
    pub other_local_id: [u32; 3],
    /// Its work-group, if it is another one.
    pub other_group_id: Option<[u32; 3]>,
    /// There is a barrier between them, which does not order accesses to that memory.
    pub unfenced_barrier: bool,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "data race in {} memory at address {:#x}", self.space, self.address)?;
        if let Some((name, offset)) = &self.buffer {
            write!(f, " (offset {offset} of {name})")?;
        }
        let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        let who = |group: Option<[u32; 3]>, local| {
            let group = group.map(|g| format!("work-group {}, ", triple(g))).unwrap_or_default();
            format!("{group}work-item local {}", triple(local))
        };
        let this_group = self.other_group_id.map(|_| self.group_id);
        write!(f, ": {} by {}", self.access, who(this_group, self.local_id))?;
        write!(f, " and {} by {}", self.other_access, who(self.other_group_id, self.other_local_id))?;
        if let Some(source) = &self.other_source {
            write!(f, " at {source}")?;
        }
        match self.other_group_id {
            Some(_) => write!(f, ", nothing orders work-groups"),
            None if self.unfenced_barrier => {
                write!(f, ", separated by a barrier without a fence of {} memory", self.space)?;
                match self.space {
                    "local" => write!(f, " (CLK_LOCAL_MEM_FENCE)"),
                    _ => write!(f, " (CLK_GLOBAL_MEM_FENCE)"),
                }
            }
            None => write!(f, ", not separated by a barrier"),
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside the memory of its space.
    OutOfBounds {
        /// `load`, `store` or `atomic`.
        access: &'static str,
        /// The space's name.
        space: &'static str,
        /// Address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// What lies nearest, and how far.
        nearest: String,
    },
    /// An access that is not aligned to its size.
    Misaligned {
        /// `load`, `store` or `atomic`.
        access: &'static str,
        /// The space's name.
        space: &'static str,
        /// Address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// What it is in, or what lies nearest, if that says more than the address.
        nearest: Option<String>,
    },
    /// A barrier that not all work-items of the warp reached together.
    DivergentBarrier {
        /// Work-items of the warp at the barrier.
        arrived: u32,
        /// Work-items of the warp that have not exited.
        live: u32,
    },
    /// A barrier that some work-items of the work-group do not reach: they have ended, or stand at another one.
    UnevenBarrier {
        /// The first of these.
        local_id: [u32; 3],
        /// Where it stands; `None`: it has ended.
        at: Option<String>,
    },
    /// Two accesses that nothing orders.
    Race(Box<Race>),
    /// A load of bytes that were never written.
    Uninitialised {
        /// The space's name.
        space: &'static str,
        /// Address.
        address: u64,
        /// Bytes read.
        bytes: u32,
        /// The instruction that depends on them.
        used: u32,
        /// Its line, if it is another one.
        used_at: Option<String>,
    },
    /// A u-marked instruction whose operands differ between active lanes (S8): a defect of the compiler.
    WrongMark {
        /// The first active lane, whose operands would have been used.
        first: u32,
    },
    /// A read of a shared register that is not mapped (REN-9).
    UnmappedRegister {
        /// Its number.
        register: u32,
    },
    /// A shared register that is still mapped when the warp ends (REN-9).
    RegisterLeak {
        /// Its number.
        register: u32,
    },
    /// A read of a local register that the warp may have lost since it was written (C14): a defect of the compiler.
    LostRegister {
        /// The cluster whose register it is.
        cluster: u32,
        /// Its number.
        register: u32,
    },
    /// A read of a scalar register by a lane for which its value was not written (S8): a defect of the compiler.
    ForeignScalar {
        /// Its number.
        register: u32,
    },
    /// A bad access to an image.
    Image {
        /// What is wrong.
        message: String,
    },
    /// `trap`: undefined behaviour was reached.
    Trap,
    /// No work-item of the launch makes progress any more.
    Deadlock(Box<Deadlock>),
    /// The instruction budget ran out.
    Runaway {
        /// The budget.
        limit: u64,
    },
    /// The host wanted the launch to end.
    Interrupted,
}

impl FaultKind {
    /// A word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::OutOfBounds { .. } => "out-of-bounds",
            FaultKind::Misaligned { .. } => "misaligned",
            FaultKind::DivergentBarrier { .. } | FaultKind::UnevenBarrier { .. } => "divergent-barrier",
            FaultKind::Race(_) => "race",
            FaultKind::Uninitialised { .. } => "uninitialised",
            FaultKind::WrongMark { .. } => "wrong-mark",
            FaultKind::UnmappedRegister { .. } => "unmapped-register",
            FaultKind::RegisterLeak { .. } => "register-leak",
            FaultKind::LostRegister { .. } => "lost-register",
            FaultKind::ForeignScalar { .. } => "foreign-scalar",
            FaultKind::Image { .. } => "image",
            FaultKind::Trap => "trap",
            FaultKind::Deadlock(_) => "deadlock",
            FaultKind::Runaway { .. } => "runaway",
            FaultKind::Interrupted => "interrupted",
        }
    }
}

/// A fault with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Kernel.
    pub kernel: String,
    /// `file:line` of the instruction, if known.
    pub source: Option<String>,
    /// Global id of the (first) work-item.
    pub global_id: [u32; 3],
    /// Local id.
    pub local_id: [u32; 3],
    /// Work-group id.
    pub group_id: [u32; 3],
}

impl Fault {
    /// Of a launch in a deadlock: where its first warp waits.
    pub(crate) fn deadlock(launch: &Launch, mut deadlock: Deadlock) -> Fault {
        deadlock.warps.sort_by_key(|w| {
            let [x, y, z] = w.group_id;
            ([z, y, x], w.barrier, w.warp)
        });
        let first = deadlock.warps.first().cloned().unwrap_or_default();
        let (local_id, group_id) = (first.local_id, first.group_id);
        Fault {
            kernel: launch.program.header.name.clone(),
            source: first.source,
            global_id: std::array::from_fn(|d| launch.offset[d] + group_id[d] * launch.local[d] + local_id[d]),
            local_id,
            group_id,
            kind: FaultKind::Deadlock(Box::new(deadlock)),
        }
    }

    /// Of a launch that its host has interrupted: no instruction did anything wrong.
    pub(crate) fn interrupted(kernel: &str) -> Fault {
        let [global_id, local_id, group_id] = [[0; 3]; 3];
        Fault { kind: FaultKind::Interrupted, kernel: kernel.into(), source: None, global_id, local_id, group_id }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.kind == FaultKind::Interrupted {
            return write!(f, "{}\n  in kernel `{}`", self.kind, self.kernel);
        }
        if let Some(source) = &self.source {
            write!(f, "{source}: ")?;
        }
        let [x, y, z] = self.global_id;
        let [lx, ly, lz] = self.local_id;
        let [gx, gy, gz] = self.group_id;
        write!(
            f,
            "{}\n  in kernel `{}`, work-item global ({x}, {y}, {z}), local ({lx}, {ly}, {lz}), work-group \
             ({gx}, {gy}, {gz})",
            self.kind, self.kernel
        )
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { access, space, address, bytes, nearest } => {
                // Nothing lies there: no program computes such an address from a buffer's.
                let null = matches!(*space, "global" | "constant") && *address < 4096 && !nearest.contains("surface");
                let nearest = if null { "a null pointer" } else { nearest };
                write!(f, "{access} of {bytes} bytes out of bounds in {space} memory at address {address:#x} ({nearest})")?;
            }
            FaultKind::Misaligned { access, space, address, bytes, nearest } => {
                write!(f, "misaligned {access} of {bytes} bytes in {space} memory at address {address:#x}")?;
                if let Some(nearest) = nearest {
                    write!(f, " ({nearest})")?;
                }
            }
            FaultKind::DivergentBarrier { arrived, live } => write!(
                f,
                "divergent barrier: {arrived} of the warp's {live} live work-items reached it; every work-item \
                 of a work-group must reach each barrier"
            )?,
            FaultKind::UnevenBarrier { local_id: [ox, oy, oz], at } => {
                let what = match at {
                    Some(at) => format!("stands at the barrier of {at}"),
                    None => "has ended without reaching it".into(),
                };
                write!(
                    f,
                    "divergent barrier: work-item local ({ox}, {oy}, {oz}) {what}; every work-item of a \
                     work-group must reach each barrier"
                )?;
            }
            FaultKind::Race(race) => write!(f, "{race}")?,
            FaultKind::Uninitialised { space, address, bytes, used_at, .. } => {
                write!(f, "read of {bytes} uninitialised bytes in {space} memory at address {address:#x}")?;
                if let Some(place) = used_at {
                    write!(f, ", used at {place}")?;
                }
            }
            FaultKind::WrongMark { first } => write!(
                f,
                "wrong u bit: the operands of this work-item differ from those of the warp's first active lane \
                 ({first}); this is a defect of the compiler (S8)"
            )?,
            FaultKind::UnmappedRegister { register } => {
                write!(
                    f,
                    "read of shared register m{register}, which is not mapped: released too early, or never written (REN-9)"
                )?;
            }
            FaultKind::RegisterLeak { register } => {
                write!(f, "shared register m{register} is still mapped when the warp ends: a release is missing (REN-9)")?;
            }
            FaultKind::LostRegister { cluster, register } => write!(
                f,
                "read of local register l{register} of cluster {cluster}, which the warp loses where it may leave the active \
                 set: nothing has been written to it in this strand; this is a defect of the compiler (C14)"
            )?,
            FaultKind::ForeignScalar { register } => write!(
                f,
                "read of scalar register s{register}, which was written last for other lanes of the warp while this one was not \
                 active; this is a defect of the compiler (S8)"
            )?,
            FaultKind::Image { message } => write!(f, "{message}")?,
            FaultKind::Interrupted => write!(f, "interrupted; memory holds what the launch had written")?,
            FaultKind::Trap => write!(f, "reached code that the compiler knows to be undefined behaviour")?,
            FaultKind::Deadlock(deadlock) => write!(f, "{deadlock}")?,
            FaultKind::Runaway { limit } => write!(
                f,
                "a work-group executed more than {limit} instructions; if the kernel is meant to run that long, \
                 raise --max-instructions"
            )?,
        }
        Ok(())
    }
}
