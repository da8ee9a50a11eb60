//! How many instructions a work-group may still execute, so that endless kernels end, and so that the host can end
//! a launch. Touches nothing but its own counts.

use crate::Options;
use crate::fault::FaultKind;

/// Instructions that a work-group may still execute, in portions: between two of them it is seen whether the host wants the
/// launch to end.
pub struct Budget<'a> {
    /// Of this portion.
    pub left: u64,
    /// In later portions.
    behind: u64,
    /// The next one's size.
    portion: u64,
    /// Portions that have been used up.
    pub portions: u64,
    options: &'a Options,
}

impl<'a> Budget<'a> {
    /// Instructions of a portion: a fraction of a second.
    const PORTION: u64 = 1 << 22;
    /// Of the first one, where a warp may be waiting for another one.
    const FIRST: u64 = 1 << 16;

    /// Of the first one behind a wait for another work-group.
    const AFTER_WAIT: u64 = 1 << 12;

    /// Of a whole work-group, of which warps may have to wait for others in loops.
    pub fn new(options: &'a Options, communicates: bool) -> Budget<'a> {
        let portion = if communicates { Self::FIRST } else { Self::PORTION };
        let left = options.max_instructions.min(portion);
        Budget { left, behind: options.max_instructions - left, portion, portions: 0, options }
    }

    /// Takes what a block needs, which this portion does not have, from the next one. Otherwise the work-group's fault.
    pub fn take_more(&mut self, length: u64) -> Result<(), FaultKind> {
        if self.options.interrupt.is_some_and(|i| i.requested()) {
            return Err(FaultKind::Interrupted);
        }
        self.portions += 1;
        self.portion = (2 * self.portion).min(Self::PORTION);
        // A block may be longer than a portion.
        let portion = self.behind.min(self.portion.max(length.saturating_sub(self.left)));
        (self.left, self.behind) = (self.left + portion, self.behind - portion);
        let runaway = FaultKind::Runaway { limit: self.options.max_instructions };
        self.left = self.left.checked_sub(length).ok_or(runaway)?;
        Ok(())
    }

    /// A wait has ended that was known to be one: the next one, in the same code, is to be known sooner.
    pub fn has_waited(&mut self) {
        (self.portions, self.portion) = (0, Self::AFTER_WAIT);
        self.behind += self.left;
        self.left = self.behind.min(self.portion);
        self.behind -= self.left;
    }

    /// Instructions executed.
    pub fn used(&self) -> u64 {
        self.options.max_instructions - self.left - self.behind
    }
}
