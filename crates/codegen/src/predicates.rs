//! Allocation of the predicate file P.
//!
//! Predicates are one bit a lane and their writes are masked, so ordinary liveness is enough. What does not
//! fit is kept as 0 or 1 in a vector register and compared with zero at its uses ([`super::spill`]). Colouring
//! is [`super::color`]'s.
//!
//! May touch: predicates; vector registers that take what overflows are new.

use super::CodegenError;
use super::allocate::color_bank;
use super::color::FileSpec;
use super::context::{Allocation, Context};
use heddle_mir::{Bank, Function};

/// Allocates the predicate file.
///
/// # Errors
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit.
pub fn run(function: &mut Function, context: &mut Context) -> Result<(), CodegenError> {
    let Allocation { machine, stats, session, .. } = context.allocation(function);
    color_bank(function, session, Bank::Predicate, &FileSpec::new(machine.sm.predicate_registers), stats)
}
