//! Allocation of the predicate file P.
//!
//! Predicates are one bit a lane and their writes are masked, so ordinary liveness is enough. What does not fit is kept as 0 or 1 in
//! a vector register and compared with zero at its uses.

use super::allocate::{Session, color_bank};
use super::color::FileSpec;
use super::{CodegenError, FunctionStats};
use heddle_mir::{Bank, Function};
use heddle_target::Machine;

/// Allocates the predicate file.
///
/// # Errors
/// [`CodegenError::TooFewRegisters`] if a single instruction's operands do not fit.
pub fn run(
    function: &mut Function,
    machine: &Machine,
    session: &mut Session,
    stats: &mut FunctionStats,
) -> Result<(), CodegenError> {
    color_bank(function, session, Bank::Predicate, &FileSpec::new(machine.sm.predicate_registers), stats)
}
