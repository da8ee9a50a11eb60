//! A warp's control state: program counter, EXEC and the reconvergence stack.
//!
//! A divergent branch pushes the taken side, runs the fall-through side first, and both meet at the
//! reconvergence block (DESIGN §4). The entry that waits there is not kept when the surrounding entry waits
//! at the same block, so the stack's depth is bounded by nesting, not by iterations. A lane that exits leaves
//! every mask, because masks are cut to the live lanes when they are popped.

/// A block index that stands for "nowhere".
pub const NOWHERE: u32 = u32::MAX;

/// Lanes waiting to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    mask: u64,
    pc: u32,
    reconverge: u32,
}

/// Control state of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// Lanes that have not exited.
    pub live: u64,
    /// EXEC: the active lanes (S1).
    pub mask: u64,
    /// Current block.
    pub pc: u32,
    reconverge: u32,
    stack: Vec<Entry>,
}

impl Control {
    /// Where the block at which the active lanes wait for others is kept, in bytes from the start: for compiled code.
    #[cfg(feature = "jit")]
    pub const RECONVERGE: usize = std::mem::offset_of!(Control, reconverge);

    /// The same of the lanes that have not exited.
    #[cfg(feature = "jit")]
    pub const LIVE: usize = std::mem::offset_of!(Control, live);

    /// A warp at block 0 with its lanes active.
    pub fn new(mask: u64) -> Self {
        Control { live: mask, mask, pc: 0, reconverge: NOWHERE, stack: Vec::new() }
    }

    /// Starts again at block 0.
    pub fn reset(&mut self, mask: u64) {
        self.stack.clear();
        (self.live, self.mask, self.pc, self.reconverge) = (mask, mask, 0, NOWHERE);
    }

    /// Starts at a block, which none of the lanes has to wait for.
    #[cfg(feature = "jit")]
    pub fn reset_to(&mut self, mask: u64, block: u32) {
        self.reset(mask);
        self.pc = block;
    }

    /// Whether every lane has exited.
    pub fn done(&self) -> bool {
        self.live == 0
    }

    /// All active lanes go to `block`.
    #[inline]
    pub fn jump(&mut self, block: u32) {
        self.pc = block;
        if block == self.reconverge {
            self.pop();
        }
    }

    /// Lanes of `taken` go to `target`, the other active ones to `next`; they meet at `reconverge`. Returns
    /// whether the warp split.
    #[inline]
    pub fn diverge(&mut self, taken: u64, target: u32, next: u32, reconverge: u32) -> bool {
        let taken = taken & self.mask;
        let fall = self.mask & !taken;
        if taken == 0 {
            self.jump(next);
            return false;
        }
        if fall == 0 {
            self.jump(target);
            return false;
        }
        if reconverge != NOWHERE && reconverge != self.reconverge {
            self.stack.push(Entry { mask: self.mask, pc: reconverge, reconverge: self.reconverge });
        }
        if target != reconverge {
            self.stack.push(Entry { mask: taken, pc: target, reconverge });
        }
        if next == reconverge {
            self.pop();
        } else {
            (self.mask, self.pc, self.reconverge) = (fall, next, reconverge);
        }
        true
    }

    /// The active lanes end.
    pub fn exit(&mut self) {
        self.live &= !self.mask;
        self.pop();
    }

    /// Goes on with the next entry that has live lanes.
    fn pop(&mut self) {
        while let Some(e) = self.stack.pop() {
            let mask = e.mask & self.live;
            if mask != 0 && e.pc != e.reconverge {
                (self.mask, self.pc, self.reconverge) = (mask, e.pc, e.reconverge);
                return;
            }
        }
        // Only possible when nothing waits: every lane has exited.
        self.mask = 0;
    }

    /// Whether lanes wait for the active ones.
    pub fn holds_others(&self) -> bool {
        self.stack.iter().any(|e| e.mask & self.live & !self.mask != 0)
    }

    /// All lanes of the state: active ones and those that wait for them.
    pub fn all_lanes(&self) -> u64 {
        self.stack.iter().fold(self.mask, |all, e| all | e.mask)
    }

    /// Makes the active lanes independent of those that wait for them. Returns the latter, each set with a state of its own.
    pub fn divide(&mut self) -> Vec<Control> {
        let mut seen = self.mask;
        let mut parts = Vec::new();
        for i in (0..self.stack.len()).rev() {
            let e = self.stack[i];
            let mask = e.mask & self.live & !seen;
            seen |= e.mask;
            if mask != 0 {
                let mut part =
                    Control { live: self.live, mask, pc: e.pc, reconverge: e.reconverge, stack: self.stack[..i].to_vec() };
                part.restrict();
                // Where they have come to already.
                if part.pc == part.reconverge {
                    part.pop();
                }
                parts.push(part);
            }
        }
        self.restrict();
        parts
    }

    /// Leaves nobody waiting but the active lanes.
    fn restrict(&mut self) {
        let mask = self.mask;
        self.stack.iter_mut().for_each(|e| e.mask &= mask);
        self.stack.retain(|e| e.mask != 0);
    }

    /// Whether lanes of both states will go the same way from here on, as far as control decides it.
    pub fn same_way(&self, other: &Control) -> bool {
        let same = |a: &Entry, b: &Entry| (a.pc, a.reconverge) == (b.pc, b.reconverge);
        (self.pc, self.reconverge, self.stack.len()) == (other.pc, other.reconverge, other.stack.len())
            && self.stack.iter().zip(&other.stack).all(|(a, b)| same(a, b))
    }

    /// Whether both are the same but for which lanes have ended.
    pub fn same_place(&self, other: &Control) -> bool {
        self.mask == other.mask && self.same_way(other) && self.stack == other.stack
    }

    /// Lanes of another state that go the same way go on with these.
    pub fn join(&mut self, other: &Control) {
        self.mask |= other.mask;
        self.stack.iter_mut().zip(&other.stack).for_each(|(a, b)| a.mask |= b.mask);
    }

    /// Lanes that wait for others, each set with the block at which it goes on: those that wait for the active ones first.
    pub fn held(&self) -> Vec<(u64, u32)> {
        let mut seen = self.mask;
        let mut held = Vec::new();
        for e in self.stack.iter().rev() {
            let lanes = e.mask & self.live & !seen;
            if lanes != 0 {
                held.push((lanes, e.pc));
            }
            seen |= e.mask;
        }
        held
    }

    /// Entries that wait.
    #[cfg(test)]
    pub fn depth(&self) -> usize {
        self.stack.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_run_fall_through_first_and_meet() {
        let mut c = Control::new(0b1111);
        assert!(c.diverge(0b0011, 5, 1, 9));
        assert_eq!((c.mask, c.pc), (0b1100, 1));
        c.jump(9);
        assert_eq!((c.mask, c.pc), (0b0011, 5));
        c.jump(9);
        assert_eq!((c.mask, c.pc, c.depth()), (0b1111, 9, 0));
    }

    #[test]
    fn a_loop_with_divergent_exits_does_not_grow_the_stack() {
        let mut c = Control::new(u64::MAX);
        // Block 1 is the loop; lanes leave one by one to block 2, where all meet.
        for lane in 0..63 {
            assert!(c.diverge(!(1 << lane), 1, 2, 2));
            assert_eq!(c.pc, 1);
            assert!(c.depth() <= 1);
        }
        c.diverge(0, 1, 2, 2);
        assert_eq!((c.mask, c.pc, c.depth()), (u64::MAX, 2, 0));
    }

    #[test]
    fn lanes_that_exit_leave_every_mask() {
        let mut c = Control::new(0b11);
        c.diverge(0b01, 3, 1, 9);
        c.exit();
        assert_eq!((c.mask, c.pc), (0b01, 3));
        c.jump(9);
        assert_eq!((c.mask, c.pc), (0b01, 9));
        c.exit();
        assert!(c.done());
    }

    #[test]
    fn lanes_that_wait_become_independent_and_join_again() {
        // Lane 0 has left the loop at block 1 for block 2 and waits there; the other lanes go on in the loop.
        let mut c = Control::new(0b1111);
        c.diverge(0b1110, 1, 2, 2);
        assert_eq!((c.mask, c.pc, c.holds_others(), c.held()), (0b1110, 1, true, vec![(0b0001, 2)]));
        let mut parts = c.divide();
        assert!(!c.holds_others() && parts.len() == 1);
        let first = &mut parts[0];
        assert_eq!((first.mask, first.pc), (0b0001, 2));
        // The others leave the loop alone, and are where it was.
        c.jump(2);
        assert_eq!((c.mask, c.pc, c.depth()), (0b1110, 2, 0));
        assert!(c.same_way(first));
        c.join(first);
        assert_eq!(c.all_lanes(), 0b1111);
    }

    #[test]
    fn nested_sets_of_waiting_lanes_become_paths_each() {
        let mut c = Control::new(0b1111);
        c.diverge(0b1100, 10, 1, 20);
        c.diverge(0b0010, 5, 2, 8);
        assert_eq!((c.mask, c.held()), (0b0001, vec![(0b0010, 5), (0b1100, 10)]));
        let parts = c.divide();
        assert_eq!(parts.iter().map(|p| (p.mask, p.pc)).collect::<Vec<_>>(), [(0b0010, 5), (0b1100, 10)]);
        // Each meets nobody where all would have met.
        for mut part in parts.into_iter().chain([c]) {
            let mask = part.mask;
            part.jump(8);
            part.jump(20);
            assert_eq!((part.mask, part.pc), (mask, 20));
        }
    }

    #[test]
    fn nested_regions() {
        let mut c = Control::new(0b1111);
        c.diverge(0b1100, 10, 1, 20);
        c.diverge(0b0010, 5, 2, 8);
        assert_eq!((c.mask, c.pc), (0b0001, 2));
        c.jump(8);
        assert_eq!((c.mask, c.pc), (0b0010, 5));
        c.jump(8);
        assert_eq!((c.mask, c.pc), (0b0011, 8));
        c.jump(20);
        assert_eq!((c.mask, c.pc), (0b1100, 10));
        c.jump(20);
        assert_eq!((c.mask, c.pc), (0b1111, 20));
    }
}
