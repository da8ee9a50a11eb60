//! What follows from a program and is found when a launch first asks: a program that is launched a hundred thousand
//! times, each for microseconds, must not be gone through each time.
//!
//! May only keep what the code and the header decide, never what a launch, a machine or options do.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Of one program. A clone has found nothing yet, since its program may be changed.
#[derive(Default)]
pub struct Derived {
    /// Its instructions for the lanes of a warp ([`crate::exec::decoded`]).
    pub(crate) decoded: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// [`crate::Program::communicates`].
    pub(crate) communicates: OnceLock<bool>,
    /// [`crate::Program::learns`].
    pub(crate) learns: OnceLock<bool>,
    /// Lines of LLVM IR that it would have, about.
    #[cfg(feature = "jit")]
    pub(crate) lines: OnceLock<u64>,
    /// Whether its counters may be kept apart by host thread.
    #[cfg(feature = "jit")]
    pub(crate) keeps_apart: OnceLock<bool>,
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Derived::default()
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Derived").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;
    use crate::exec::decoded;
    use heddle_target::Machine;

    #[test]
    fn what_is_found_is_kept_but_not_by_a_clone() {
        let source = concat!(
            r#".object {"version":1,"machine":"heddle","clusters":2,"kernels":[],"data_relocations":[],"data_align":1}"#,
            "\n",
            r#".kernel {"name":"k","text_offset":0,"text_size":0,"local_bytes":0,"private_bytes":0,"args":[],"#,
            r#""main_registers":4,"fixed_registers":4,"shared_demand":0,"local_registers":[0,0],"scalar_registers":0,"#,
            r#""predicate_registers":0,"required_work_group":null,"warp_size":32}"#,
            "\n  mul.b32 m0, gid.x, 3\n  exit\n",
        );
        let image = heddle_object::asm::assemble(source).expect("assembles");
        let program = Program::from_image(&image, 0, &Machine::default_machine()).expect("loads");
        let code = decoded::<32>(&program);
        assert_eq!(code.len(), program.insts.len());
        assert!(Arc::ptr_eq(&code, &decoded::<32>(&program)));
        assert!(!program.communicates() && program.derived.communicates.get() == Some(&false));
        // A clone may get other instructions.
        let clone = program.clone();
        assert!(clone.derived.communicates.get().is_none() && !Arc::ptr_eq(&code, &decoded::<32>(&clone)));
    }
}
