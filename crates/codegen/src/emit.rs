//! From allocated machine IR to the words and metadata of an object.

use std::collections::HashMap;

use heddle_isa::encode::encode;
use heddle_isa::{Inst, Op, SourceLoc, Targets};
use heddle_mir::variables::Held;
use heddle_mir::{Block, Function, Module};
use heddle_object::metadata::{KernelHeader, ObjectMetadata};
use heddle_object::variables::Variables;
use heddle_object::write::WriteError;
use heddle_object::{INSTRUCTION_BYTES, Image, VERSION};
use heddle_target::Machine;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::finish::register_usage;

/// Encodes allocated functions.
///
/// # Errors
/// An instruction without encoding: a defect of code generation.
pub fn assemble(module: &Module, machine: &Machine) -> Result<Image, WriteError> {
    let mut image = Image {
        metadata: ObjectMetadata {
            version: VERSION,
            machine: machine.name.clone(),
            clusters: machine.clusters.len() as u32,
            kernels: Vec::new(),
            data_relocations: module.data.relocations.clone(),
            data_align: module.data.align.max(1),
            variables: module.data.variables.clone(),
            printf: module.printf.clone(),
        },
        data: module.data.bytes.clone(),
        ..Default::default()
    };
    let mut files: HashMap<String, u32> = HashMap::new();
    for function in &module.functions {
        let start = image.text.len();
        let file_map: Vec<u32> = function
            .files
            .iter()
            .map(|f| {
                let next = files.len() as u32;
                *files.entry(f.clone()).or_insert_with(|| {
                    image.files.push(f.clone());
                    next
                })
            })
            .collect();
        for inst in linear(function) {
            image.text.push(encode(&inst).map_err(|e| WriteError(e.to_string()))?);
            let file = file_map.get(inst.loc.file as usize).copied().unwrap_or(0);
            image.lines.push(SourceLoc { file, point: 0, ..inst.loc });
        }
        let usage = register_usage(function, machine.clusters.len());
        image.metadata.kernels.push(KernelHeader {
            name: function.name.clone(),
            text_offset: (start * INSTRUCTION_BYTES) as u64,
            text_size: ((image.text.len() - start) * INSTRUCTION_BYTES) as u64,
            args: function.args.clone(),
            local_bytes: function.local_bytes,
            private_bytes: function.private_bytes,
            main_registers: usage.main,
            fixed_registers: function.fixed_registers.map_or(usage.main, |f| f.min(usage.main)),
            shared_demand: function.shared_demand,
            shared_typical: function.shared_typical,
            working_sets: function.working_sets.clone(),
            surfaces: function.surfaces.clone(),
            literals: function.literals.clone(),
            local_registers: usage.local,
            scalar_registers: usage.scalar,
            predicate_registers: usage.predicate,
            required_work_group: function.required_work_group,
            work_group_hint: function.work_group_hint,
            vector_hint: function.vector_hint.clone(),
            required_sub_group: function.required_sub_group,
            whole_work_groups: function.whole_work_groups,
            short_ids: function.short_ids,
            unaligned_vectors: function.unaligned_vectors,
            rows_fill_warps: function.rows_fill_warps,
            relieves_data_l1: function.relieves_data_l1,
            redzones: function.redzones.clone(),
            warp_size: machine.warp_size,
            variables: variables(function),
        });
    }
    Ok(image)
}

/// Where the source's variables are, if that is known.
fn variables(function: &Function) -> Option<Box<Variables>> {
    let bindings = function.variables.as_ref()?;
    let mut variables = bindings.variables.clone();
    let (mut held, mut scopes) = (Vec::new(), Vec::new());
    variables.begins.clear();
    for block in &function.layout {
        let insts = &function.blocks[*block].insts;
        let mut begun = FxHashSet::default();
        let held_at = |i: &Inst| bindings.held.get((i.loc.point as usize).wrapping_sub(1));
        // A statement that a condition guards begins where the guard does: lanes that it leaves out do not come to it.
        let guards = insts.iter().filter(|i| i.guard.is_some() && !i.info().flags.terminator);
        let guarded: FxHashSet<u32> = guards.filter_map(|i| held_at(i).map(|h| h.instance)).collect();
        for (i, inst) in insts.iter().enumerate() {
            // Releases stand where nothing has found places; they change none.
            let known = insts[i..].iter().find(|i| i.op != Op::Release).unwrap_or(inst);
            let at = held_at(known);
            held.push(at.map(|h| h.values.clone()).unwrap_or_default());
            scopes.push(at.and_then(|h| h.scope));
            let may_begin = |h: &&Held| !h.moved && h.instance > 0 && (inst.guard.is_some() || !guarded.contains(&h.instance));
            if let Some(h) = at.filter(may_begin).filter(|_| inst.op != Op::Release)
                && begun.insert(h.instance)
            {
                variables.begins.push(held.len() as u32 - 1);
            }
        }
    }
    variables.set_locations(&held);
    variables.set_places(&scopes);
    Some(Box::new(variables))
}

/// Instructions in layout order, branch targets as distances.
fn linear(function: &Function) -> Vec<Inst> {
    let mut start: FxHashMap<Block, i64> = FxHashMap::default();
    let mut position = 0i64;
    for b in &function.layout {
        start.insert(*b, position);
        position += function.blocks[*b].insts.len() as i64;
    }
    let mut result = Vec::with_capacity(position as usize);
    for b in &function.layout {
        for inst in &function.blocks[*b].insts {
            let here = result.len() as i64;
            let distance = |t: &Block| (start[t] - here - 1) as i32;
            let mut inst = inst.clone();
            if let Targets::Blocks(t) = &inst.targets
                && let Some(first) = t.first()
            {
                inst.targets = Targets::Offsets { target: distance(first), reconverge: t.get(1).map(distance) };
            }
            result.push(inst);
        }
    }
    result
}
