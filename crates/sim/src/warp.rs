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
#[derive(Clone, Debug)]
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

    /// A warp at block 0 with its lanes active.
    pub fn new(mask: u64) -> Self {
        Control { live: mask, mask, pc: 0, reconverge: NOWHERE, stack: Vec::new() }
    }

    /// Starts again at block 0.
    pub fn reset(&mut self, mask: u64) {
        self.stack.clear();
        (self.live, self.mask, self.pc, self.reconverge) = (mask, mask, 0, NOWHERE);
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
