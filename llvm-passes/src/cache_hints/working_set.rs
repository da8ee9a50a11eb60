//! Which loads of a loop come back to the lines that they touched before (K7): what a work-group wants its L1 to
//! keep while it runs the loop.
//!
//! # Problem
//! Where every lane walks a row of its own, a warp's load touches a line a lane, and needs each of them again in
//! the next iterations. A few warps fill the L1 so; with all that an SM can hold, each load evicts what
//! another one needs, and the whole way to memory is paid for every element. Fewer warps are faster then: Kim et
//! al., "Compiler-assisted GPU thread throttling for reduced cache contention" (ICPP 2019), from memory. How
//! many fit is known at launch, with the size of the work-groups; this analysis says what each one needs.
//!
//! # Algorithm
//! A load counts if its address is affine, the innermost loop around it advances it by less than a sector, and
//! neighbouring work-items do not share what it touches: it has a stride in every id that the kernel uses. Loads
//! of the same lines count once. Only loops of the deepest level are looked at, where most of the time goes.
//!
//! # Limits
//! A stride known only at launch is taken to be longer than a line. Addresses that are not affine count as nothing,
//! so a kernel that gathers as well is throttled less than it might be.

use super::{Access, AffineAddress, Hint, Kernel, Kind, LINE};
use crate::ir::BlockRef;

/// Bytes that a miss fetches.
const SECTOR: u32 = 32;
/// Distance between work-items that is known to be long, in bytes.
const FAR: u32 = 4096;

/// A load that comes back to its lines in the next iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopReuse {
    /// The loop's header.
    pub header: BlockRef,
    /// Bytes from one work-item to the next in each dimension; what is longer than a line counts alike.
    pub strides: [u32; 3],
    /// Instructions of an iteration.
    pub instructions: u32,
}

impl Kernel<'_> {
    /// What a load comes back to, if it does; nothing for one whose lines another load has.
    pub(super) fn loop_reuse(&self, a: &Access, hint: Hint) -> Option<LoopReuse> {
        let (argument, address) = a.place.as_ref().ok()?;
        if a.kind != Kind::Load || !matches!(hint, Hint::Default | Hint::UniformLoad) || self.uniformity.is_uniform(a.pointer) {
            return None;
        }
        let header = *a.loops.last()?;
        let strides = self.apart(a, address)?;
        let others = self.surfaces.get(argument).map_or(&[][..], |s| s);
        let before = others.iter().map(|o| &self.accesses[*o]).take_while(|o| o.inst != a.inst);
        let shares = |o: &Access| match &o.place {
            Ok((_, theirs)) if o.kind == Kind::Load && o.loops == a.loops && theirs.strides == address.strides => {
                let distance = theirs.offset.clone().plus(&address.offset, u32::MAX);
                distance.as_constant().is_some_and(|c| (c as i32).unsigned_abs() < LINE)
            }
            _ => false,
        };
        if before.into_iter().any(shares) {
            return None;
        }
        Some(LoopReuse { header, strides, instructions: self.instructions_of(header) })
    }

    /// The strides of a load in a loop of the deepest level, if the next iterations find its sectors again and no other
    /// work-item does.
    fn apart(&self, a: &Access, address: &AffineAddress) -> Option<[u32; 3]> {
        let cfg = self.uniformity.cfg();
        let deepest = (0..cfg.blocks.len()).map(|b| cfg.loops.iter().filter(|l| l.members.contains(b)).count()).max();
        let step = address.step(*a.loops.last()?);
        let advances = if step.0.is_empty() { 0 } else { (step.as_constant()? as i32).unsigned_abs() };
        if deepest != Some(a.loops.len()) || advances >= SECTOR {
            return None;
        }
        let mut strides = [0; 3];
        for d in (0..3).filter(|d| self.used[*d]) {
            let own = &address.strides[d];
            if own.0.is_empty() || !self.by_group(address, d as u8) {
                return None;
            }
            strides[d] = own.as_constant().map_or(FAR, |c| (c as i32).unsigned_abs().min(FAR));
        }
        strides.iter().any(|s| *s != 0).then_some(strides)
    }

    fn instructions_of(&self, header: BlockRef) -> u32 {
        let cfg = self.uniformity.cfg();
        let around = cfg.loops.iter().find(|l| cfg.blocks[l.header] == header);
        around.map_or(0, |l| l.members.ones().map(|b| cfg.blocks[b].instructions().count() as u32).sum())
    }
}
