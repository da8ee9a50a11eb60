//! Instruction selection: LLVM IR to SSA MIR.
//!
//! # Values
//! An LLVM value becomes one operand for each scalar leaf of its type (vectors and aggregates are flattened).
//! Integers of up to 32 bits sit in one register with undefined upper bits (extended at need), up to 64 bits
//! in a pair; `i1` is a predicate, or 0/1 in a scalar register. What the uniformity analysis calls uniform
//! lives in scalar registers and is computed once a warp (S5); the rest is one value a lane.
//!
//! # Addresses
//! See [`address`]: base + 32-bit offset wherever it is exact (DESIGN §4).
//!
//! # Control
//! Uniform conditions use `bras`, divergent ones `brad` with the immediate post-dominator as reconvergence
//! point. The pass relies on LCSSA form (S4) and leaves phi copies to the machine layer's lowering.
//!
//! # Parts
//! [`Selector`] has the parts, each a struct with a file of its own: what is read only ([`context`]), the
//! function being built ([`emit`]), which operands hold which values ([`values`]), pointers taken apart
//! ([`address`]), the places of arguments ([`arguments`]) and variables ([`storage`], [`data`]), blocks and
//! phis ([`control`]), and what there is to complain about ([`diagnostics`]). [`select`](mod@select) walks
//! over a kernel and gives each instruction to its family in [`lower`].
//!
//! May touch: LLVM, MIR. Unsupported input is a [`Diagnostic`], never a panic or wrong code.

mod address;
mod arguments;
mod bits;
mod constant_bank;
mod constants;
mod context;
mod control;
mod data;
mod diagnostics;
mod division;
mod emit;
mod leaf;
mod lower;
mod options;
mod phis;
mod pointers;
mod scalar_slots;
mod select;
mod storage;
mod surface;
mod switch;
mod terminator;
mod values;
mod variables;
mod words;
mod working_sets;

use heddle_llvm_passes::Facts;
use heddle_llvm_passes::ir::layout::Layout;
use heddle_llvm_passes::ir::{self, debug, function};
use heddle_llvm_passes::printf;
use heddle_mir::{Function, Module};
use heddle_object::printf::PrintfFormat;

pub use diagnostics::{Diagnostic, Remark};
pub use division::DivisionCosts;
pub use options::{CacheHints, SelectOptions};
pub use scalar_slots::IssueRates;

use address::AddressForms;
use arguments::Arguments;
use context::Context;
use control::Control;
use data::Data;
use diagnostics::Report;
use emit::Emitter;
use lower::memory::UniformLoads;
use storage::Storage;
use values::ValueMap;
use variables::{Described, Records};
use working_sets::WorkingSets;

/// Selects every kernel of a module that the front end prepared.
///
/// # Errors
/// All constructs found that cannot be compiled.
pub fn select(
    module: &inkwell::module::Module,
    options: &SelectOptions,
    facts: Facts,
    remarks: &mut Vec<Remark>,
) -> Result<Module, Vec<Diagnostic>> {
    let layout = Layout::of_target();
    let mut result = Module::default();
    let mut errors = Vec::new();
    let mut versions = Vec::new();
    let records = debug::records(module);
    let data = Data::new(module, &layout, options.redzones);
    for kernel in function::bodies(module) {
        if !ir::is_kernel(kernel) {
            errors.push(diagnostics::not_inlined(kernel));
            continue;
        }
        let unsupported = diagnostics::unsupported_types(kernel);
        if !unsupported.is_empty() {
            errors.extend(unsupported);
            continue;
        }
        let context = Context::new(kernel, &layout, options, facts);
        let version = version_for_rows(&context, facts);
        match Selector::new(context, &data, &records).run(remarks) {
            Ok(f) => result.functions.push(f),
            Err(e) => errors.extend(e),
        }
        // What there is to say of the kernel has been said.
        if let Some(Ok(f)) = version.map(|context| Selector::new(context, &data, &records).run(&mut Vec::new())) {
            versions.push(Function { rows_fill_warps: true, ..f });
        }
    }
    // Behind the kernels: they are loaded when a launch takes one.
    result.functions.append(&mut versions);
    result.data = data.section;
    result.printf = printf::formats(module).into_iter().map(|f| PrintfFormat::new(&f.text, f.arguments)).collect();
    errors.extend(data.errors);
    if errors.is_empty() { Ok(result) } else { Err(errors) }
}

/// The context of a kernel's second version, for launches where every warp lies in one row of its work-group,
/// if more is uniform there (S3). Where a work-group size is required, the analysis knows as much already.
fn version_for_rows<'a>(general: &Context<'a>, facts: Facts) -> Option<Context<'a>> {
    let options = general.options;
    let wanted = options.versions && options.scalarize && function::required_work_group_size(general.kernel).is_none();
    if wanted { Context::for_rows(general, facts) } else { None }
}

/// Selecting one kernel: the parts that lowering works on.
struct Selector<'a> {
    /// Read only.
    cx: Context<'a>,
    out: Emitter,
    values: ValueMap,
    addresses: AddressForms,
    arguments: Arguments,
    storage: Storage,
    control: Control,
    working_sets: WorkingSets,
    uniform_loads: UniformLoads,
    report: Report,
    data: &'a Data<'a>,
    records: &'a Records,
    described: Described,
}

impl<'a> Selector<'a> {
    fn new(cx: Context<'a>, data: &'a Data<'a>, records: &'a Records) -> Selector<'a> {
        let name = cx.kernel.name();
        Selector {
            out: Emitter::new(name.clone(), cx.options.scalarize),
            report: Report::new(cx.kernel, name),
            storage: Storage::new(cx.options.redzones),
            working_sets: WorkingSets::new(cx.warp_size),
            cx,
            values: ValueMap::default(),
            addresses: AddressForms::default(),
            arguments: Arguments::default(),
            control: Control::default(),
            uniform_loads: UniformLoads::default(),
            data,
            records,
            described: Described::default(),
        }
    }

    fn run(mut self, remarks: &mut Vec<Remark>) -> Result<Function, Vec<Diagnostic>> {
        let kernel = self.cx.kernel;
        self.out.f.whole_work_groups = self.cx.uniformity.assumes_whole_groups() || function::uniform_work_groups(kernel);
        self.out.f.short_ids = heddle_llvm_passes::id_ranges::rests_on_short_ids(kernel);
        self.out.f.required_work_group = function::required_work_group_size(kernel);
        self.out.f.work_group_hint = function::work_group_size_hint(kernel);
        self.out.f.vector_hint = function::vector_type_hint(kernel);
        self.out.f.required_sub_group = function::required_sub_group_size(kernel);
        arguments::declare_arguments(&mut self);
        control::create_blocks(&mut self);
        storage::reserve_null(&mut self);
        storage::place_local_variables(&mut self);
        storage::entry_code(&mut self);
        if !storage::check_memory(&mut self) {
            return Err(self.report.errors);
        }
        variables::begin(&mut self);
        select::all_blocks(&mut self);
        phis::complete_phis(&mut self);
        if self.out.dropped_edges {
            phis::drop_absent_inputs(&mut self.out.f);
        }
        storage::check_memory(&mut self);
        if self.cx.options.remarks {
            remarks.extend(surface::remarks(&self));
        }
        if !self.report.errors.is_empty() {
            return Err(self.report.errors);
        }
        control::set_reconvergence(&mut self.out.f);
        self.out.f.relieves_data_l1 = self.uniform_loads.are_optional();
        self.out.f.loads_in_lanes = self.cx.has_uniform_loads_in_lanes();
        self.out.f.working_sets = self.working_sets.largest(self.cx.options.lines_a_warp);
        Ok(self.out.f)
    }
}
