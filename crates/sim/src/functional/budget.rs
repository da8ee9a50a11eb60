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
    options: &'a Options,
}

impl<'a> Budget<'a> {
    /// Instructions of a portion: a fraction of a second.
    const PORTION: u64 = 1 << 22;

    /// Of a whole work-group.
    pub fn new(options: &'a Options) -> Budget<'a> {
        let left = options.max_instructions.min(Self::PORTION);
        Budget { left, behind: options.max_instructions - left, options }
    }

    /// Takes what a block needs, which this portion does not have, from the next one. Otherwise the work-group's fault.
    pub fn take_more(&mut self, length: u64) -> Result<(), FaultKind> {
        if self.options.interrupt.is_some_and(|i| i.requested()) {
            return Err(FaultKind::Interrupted);
        }
        let portion = self.behind.min(Self::PORTION);
        (self.left, self.behind) = (self.left + portion, self.behind - portion);
        let runaway = FaultKind::Runaway { limit: self.options.max_instructions };
        self.left = self.left.checked_sub(length).ok_or(runaway)?;
        Ok(())
    }

    /// Instructions executed.
    pub fn used(&self) -> u64 {
        self.options.max_instructions - self.left - self.behind
    }
}
