//! Allocation of the scalar file S.
//!
//! Scalar registers are one for the whole warp, and both sides of a divergent branch run on them (hazard 1):
//! live ranges come from the linear view of [`heddle_mir::liveness`]. What does not fit is recomputed if it
//! is a constant, else moved to a vector register, never to memory (see [`super::spill`] for why reading the
//! first active lane is right). Colouring is [`super::color`]'s.
//!
//! May touch: scalar registers; vector registers that take what overflows are new.

use super::allocate::color_bank;
use super::color::FileSpec;
use super::context::{Allocation, Context};
use super::{CodegenError, ranges};
use heddle_mir::{Bank, Function};

/// Allocates the scalar file.
///
/// # Errors
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let Allocation { machine, stats, session, .. } = context.allocation(function);
    stats.pressure = ranges::pressure(function, session.view(function)).worst;
    color_bank(function, session, Bank::Scalar, &FileSpec::new(machine.sm.scalar_registers), stats)
}
