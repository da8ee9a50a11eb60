//! What the stages of code generation share while they work on one function.

use std::sync::{Arc, OnceLock};

use super::allocate::Session;
use super::bindings::Frozen;
use super::costs::Costs;
use super::{CodegenOptions, FunctionStats};
use heddle_mir::Function;
use heddle_target::Machine;

/// What the stages know while they work on one function.
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Options.
    pub options: &'a CodegenOptions,
    /// What was done so far.
    pub stats: FunctionStats,
    /// What variables of the source are bound to, from the end of SSA form to the end of allocation.
    pub frozen: Option<Box<Frozen>>,
    /// The order of instructions in each block of the layout, if cluster assignment has found it for the scheduler.
    pub orders: Option<Vec<Vec<u32>>>,
    session: Option<Session>,
    costs: OnceLock<Arc<Costs>>,
}

/// What the stages of register allocation know: the [`Context`] with the session that they share.
pub struct Allocation<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// Options.
    pub options: &'a CodegenOptions,
    /// What was done so far.
    pub stats: &'a mut FunctionStats,
    /// What allocation keeps from one register file to the next.
    pub session: &'a mut Session,
}

impl<'a> Context<'a> {
    /// For a function before its first stage.
    pub fn new(function: &Function, machine: &'a Machine, options: &'a CodegenOptions) -> Self {
        let (kernel, rows_fill_warps) = (function.name.clone(), function.rows_fill_warps);
        let stats = FunctionStats { kernel, rows_fill_warps, ..Default::default() };
        Context { machine, options, stats, frozen: None, orders: None, session: None, costs: OnceLock::new() }
    }

    /// For a copy of a function whose allocation has begun; `costs` are those of [`Context::costs`].
    pub fn with_session(
        function: &Function,
        machine: &'a Machine,
        options: &'a CodegenOptions,
        session: Session,
        costs: Arc<Costs>,
    ) -> Self {
        Context { session: Some(session), costs: OnceLock::from(costs), ..Context::new(function, machine, options) }
    }

    /// What accesses to the machine's registers cost, which takes a while to find.
    pub fn costs(&self) -> Arc<Costs> {
        self.costs.get_or_init(|| Arc::new(Costs::new(self.machine))).clone()
    }

    /// For a stage of allocation. The first to ask starts the session: the function as it is then is the one that the checker compares with.
    pub fn allocation(&mut self, function: &Function) -> Allocation<'_> {
        let session = self.session.get_or_insert_with(|| Session::new(function, self.options.verify));
        Allocation { machine: self.machine, options: self.options, stats: &mut self.stats, session }
    }

    /// The session of allocation, for copies of the function.
    pub fn into_session(self, function: &Function) -> Session {
        self.session.unwrap_or_else(|| Session::new(function, self.options.verify))
    }

    /// The session of allocation, once it has begun.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }
}
