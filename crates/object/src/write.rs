//! Writing objects: an [`Image`] as an ELF file with a DWARF line table.

use gimli::write::{Address, DwarfUnit, EndianVec, LineProgram, LineString, Sections};
use gimli::{Encoding, Format, LineEncoding, RunTimeEndian};
use object::write::{Object as Elf, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};

use crate::{INSTRUCTION_BYTES, Image, MACHINE};

/// What cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the object: {0}")]
pub struct WriteError(pub String);

/// Writes an image as an ELF object.
///
/// # Errors
/// The ELF or DWARF writer's message.
pub fn write(image: &Image) -> Result<Vec<u8>, WriteError> {
    let fail = |e: &dyn std::fmt::Display| WriteError(e.to_string());
    let mut elf = Elf::new(BinaryFormat::Elf, Architecture::Bpf, Endianness::Little);
    let text = elf.section_id(StandardSection::Text);
    let bytes: Vec<u8> = image.text.iter().flat_map(|w| w.to_le_bytes()).collect();
    elf.append_section_data(text, &bytes, INSTRUCTION_BYTES as u64);
    for k in &image.metadata.kernels {
        elf.add_symbol(Symbol {
            name: k.symbol().into_bytes(),
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
