//! From allocated MIR to an ELF object.

use std::collections::HashMap;

use gimli::write::{Address, DwarfUnit, EndianVec, LineProgram, LineString, Sections};
use gimli::{Encoding, Format, LineEncoding, RunTimeEndian};
use object::write::{Object as Elf, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};
use rustc_hash::FxHashMap;

use super::metadata::{KernelHeader, ObjectMetadata};
use super::{INSTRUCTION_BYTES, MACHINE, VERSION};
use crate::codegen::finish::register_usage;
use crate::isa::encode::encode;
use crate::isa::{Inst, SourceLoc, Targets};
use crate::mir::{Block, Function, Module};
use crate::target::Machine;

/// What cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the object: {0}")]
pub struct WriteError(pub String);

/// A module in the form an object holds; also what the assembler makes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// Metadata.
    pub metadata: ObjectMetadata,
    /// Instruction words.
    pub text: Vec<u128>,
    /// Data section.
    pub data: Vec<u8>,
    /// Source files.
    pub files: Vec<String>,
    /// Position of each instruction; as long as `text`.
    pub lines: Vec<SourceLoc>,
}

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
            image.lines.push(SourceLoc { file, ..inst.loc });
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
            surfaces: function.surfaces.clone(),
            local_registers: usage.local,
            scalar_registers: usage.scalar,
            predicate_registers: usage.predicate,
            required_work_group: function.required_work_group,
            whole_work_groups: function.whole_work_groups,
            redzones: function.redzones.clone(),
            warp_size: machine.warp_size,
        });
    }
    Ok(image)
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
            if let Targets::Blocks(t) = &inst.targets {
                if let Some(first) = t.first() {
                    inst.targets = Targets::Offsets { target: distance(first), reconverge: t.get(1).map(distance) };
                }
            }
            result.push(inst);
        }
    }
    result
}

/// Writes allocated functions as an object.
///
/// # Errors
/// See [`assemble`]; or the ELF writer's message.
pub fn write(module: &Module, machine: &Machine) -> Result<Vec<u8>, WriteError> {
    write_image(&assemble(module, machine)?)
}

/// Writes an image as an ELF object.
///
/// # Errors
/// The ELF or DWARF writer's message.
pub fn write_image(image: &Image) -> Result<Vec<u8>, WriteError> {
    let fail = |e: &dyn std::fmt::Display| WriteError(e.to_string());
    let mut elf = Elf::new(BinaryFormat::Elf, Architecture::Bpf, Endianness::Little);
    let text = elf.section_id(StandardSection::Text);
    let bytes: Vec<u8> = image.text.iter().flat_map(|w| w.to_le_bytes()).collect();
    elf.append_section_data(text, &bytes, INSTRUCTION_BYTES as u64);
    for k in &image.metadata.kernels {
        elf.add_symbol(Symbol {
            name: k.name.clone().into_bytes(),
            value: k.text_offset,
            size: k.text_size,
            kind: SymbolKind::Text,
            scope: SymbolScope::Dynamic,
            weak: false,
            section: SymbolSection::Section(text),
            flags: SymbolFlags::None,
        });
    }
    let json = serde_json::to_vec(&image.metadata).map_err(|e| fail(&e))?;
    let id = elf.add_section(Vec::new(), b".heddle.kernels".to_vec(), SectionKind::Metadata);
    elf.append_section_data(id, &json, 1);
    if !image.data.is_empty() {
        let id = elf.add_section(Vec::new(), b".heddle.data".to_vec(), SectionKind::Data);
        elf.append_section_data(id, &image.data, u64::from(image.metadata.data_align.max(1).next_power_of_two()));
    }
    for (name, bytes) in debug_sections(image).map_err(|e| fail(&e))? {
        let id = elf.add_section(Vec::new(), name.as_bytes().to_vec(), SectionKind::Debug);
        elf.append_section_data(id, &bytes, 1);
    }
    let mut out = elf.write().map_err(|e| fail(&e))?;
    // e_machine: the crate has no name for ours, so it wrote another 64-bit little-endian one's.
    out[18..20].copy_from_slice(&MACHINE.to_le_bytes());
    Ok(out)
}

/// A DWARF line table over `.text`.
fn debug_sections(image: &Image) -> Result<Vec<(&'static str, Vec<u8>)>, gimli::write::Error> {
    if image.files.is_empty() {
        return Ok(Vec::new());
    }
    let encoding = Encoding { format: Format::Dwarf32, version: 5, address_size: 8 };
    let mut dwarf = DwarfUnit::new(encoding);
    let string = |s: &str| LineString::String(s.replace('\0', "?").into_bytes());
    let line_encoding = LineEncoding { minimum_instruction_length: 16, ..Default::default() };
    let mut program = LineProgram::new(encoding, line_encoding, string("."), None, string(&image.files[0]), None);
    let directory = program.default_directory();
    let files: Vec<_> = image.files.iter().map(|f| program.add_file(string(f), directory, None)).collect();
    program.begin_sequence(Some(Address::Constant(0)));
    let mut last = None;
    for (i, loc) in image.lines.iter().enumerate() {
        if last == Some(*loc) {
            continue;
        }
        last = Some(*loc);
        let row = program.row();
        row.address_offset = (i * INSTRUCTION_BYTES) as u64;
        row.file = files[(loc.file as usize).min(files.len() - 1)];
        row.line = u64::from(loc.line);
        row.column = u64::from(loc.column);
        program.generate_row();
    }
    program.end_sequence((image.text.len() * INSTRUCTION_BYTES) as u64);
    dwarf.unit.line_program = program;
    let mut sections = Sections::new(EndianVec::new(RunTimeEndian::Little));
    dwarf.write(&mut sections)?;
    let mut result = Vec::new();
    sections.for_each(|id, data| {
        if !data.slice().is_empty() {
            result.push((id.name(), data.slice().to_vec()));
        }
        Ok::<(), gimli::write::Error>(())
    })?;
    Ok(result)
}
