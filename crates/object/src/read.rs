//! Reading objects. Nothing in a file is trusted: truncated or altered objects give an error, never a panic.

use object::{Object as _, ObjectSection, ObjectSymbol};

use super::error::ObjectError;
use super::metadata::{
    ArgumentKind, CONSTANT_BANK_BYTES, KernelArgument, MOST_LOCAL_BYTES, MOST_PRIVATE_BYTES, ObjectMetadata,
    PRINTF_ARGUMENT_BYTES, VARIABLE_ALIGN,
};
use super::{INSTRUCTION_BYTES, Image, MACHINE, VERSION};
use heddle_isa::{MemorySpace, SourceLoc};

/// The largest alignment of the data section, in bytes: more than any access or page wants.
const MOST_DATA_ALIGN: u32 = 1 << 20;

/// Parses an object file.
///
/// # Errors
/// What is wrong with it.
pub fn parse(bytes: &[u8]) -> Result<Image, ObjectError> {
    let fail = |m: String| ObjectError(m);
    if bytes.get(..4) != Some(b"\x7fELF") {
        return Err(fail("it is no ELF file".into()));
    }
    let machine = bytes.get(18..20).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    if machine != MACHINE {
        return Err(fail(format!("its machine number is {machine:#x}, not Heddle's {MACHINE:#x}")));
    }
    let elf = object::File::parse(bytes).map_err(|e| fail(format!("damaged ELF file: {e}")))?;
    let section = |name: &str| -> Result<Option<Vec<u8>>, ObjectError> {
        match elf.section_by_name(name) {
            None => Ok(None),
            Some(s) => s.data().map(|d| Some(d.to_vec())).map_err(|e| fail(format!("damaged section {name}: {e}"))),
        }
    };
    let text = section(".text")?.ok_or_else(|| fail("it has no section .text".into()))?;
    if text.len() % INSTRUCTION_BYTES != 0 {
        return Err(fail(format!(".text has {} bytes, no multiple of {INSTRUCTION_BYTES}", text.len())));
    }
    let json = section(".heddle.kernels")?.ok_or_else(|| fail("it has no kernel metadata".into()))?;
    let metadata: ObjectMetadata = serde_json::from_slice(&json).map_err(|e| fail(format!("damaged kernel metadata: {e}")))?;
    let data = section(".heddle.data")?.unwrap_or_default();
    check(&metadata, text.len() as u64, data.len() as u64).map_err(fail)?;
    for symbol in elf.symbols() {
        symbol.name().map_err(|e| fail(format!("damaged symbol table: {e}")))?;
    }
    let words: Vec<u128> =
        text.chunks_exact(INSTRUCTION_BYTES).map(|c| c.iter().rev().fold(0u128, |w, b| w << 8 | u128::from(*b))).collect();
    let (files, lines) = lines(&elf, words.len()).unwrap_or_else(|| (Vec::new(), vec![SourceLoc::default(); words.len()]));
    Ok(Image { metadata, text: words, data, files, lines })
}

/// Checks an object's metadata; `text` and `data`: bytes of its sections.
///
/// # Errors
/// What does not fit.
pub fn check(m: &ObjectMetadata, text: u64, data: u64) -> Result<(), String> {
    if m.version != VERSION {
        return Err(format!("format version {}, this Heddle reads {VERSION}", m.version));
    }
    for k in &m.kernels {
        let end = k.text_offset.checked_add(k.text_size);
        let aligned = k.text_offset % INSTRUCTION_BYTES as u64 == 0 && k.text_size % INSTRUCTION_BYTES as u64 == 0;
        if !aligned || end.is_none_or(|e| e > text) {
            return Err(format!("kernel `{}` is not inside .text", k.name));
        }
        for a in &k.args {
            if a.offset.checked_add(a.size).is_none_or(|e| e > CONSTANT_BANK_BYTES) {
                return Err(format!("argument `{}` of kernel `{}` is outside the constant bank", a.name, k.name));
            }
        }
        k.literals.check(&k.args).map_err(|m| format!("kernel `{}`: {m}", k.name))?;
        if k.main_registers > 256
            || k.scalar_registers > 256
            || k.predicate_registers > 16
            || k.local_registers.iter().any(|l| *l > 256)
        {
            return Err(format!("kernel `{}` declares more registers than the encoding can name", k.name));
        }
        if k.required_work_group.is_some_and(|r| r.contains(&0)) {
            return Err(format!("kernel `{}` requires an empty work-group", k.name));
        }
        if k.private_bytes > MOST_PRIVATE_BYTES || k.local_bytes > MOST_LOCAL_BYTES {
            return Err(format!(
                "kernel `{}` declares {} bytes of private and {} of local memory",
                k.name, k.private_bytes, k.local_bytes
            ));
        }
    }
    for k in &m.kernels {
        if let Some(what) = k.variables.as_ref().and_then(|v| v.unresolved()) {
            return Err(format!("kernel `{}` names a {what} of its variables that there is not", k.name));
        }
        for z in &k.redzones {
            let bytes = match z.space {
                MemorySpace::Local => k.local_bytes,
                MemorySpace::Private => k.private_bytes,
                _ => 0,
            };
            if z.start > z.end || z.end > bytes || !z.start.is_multiple_of(4) {
                return Err(format!("kernel `{}` has a redzone outside its memory", k.name));
            }
        }
        let hidden = |a: &&KernelArgument| a.kind == ArgumentKind::PrintfBuffer;
        if k.visible_args().iter().any(|a| hidden(&a)) || k.args.iter().filter(hidden).any(|a| a.size != PRINTF_ARGUMENT_BYTES) {
            return Err(format!("kernel `{}` has a wrong hidden argument", k.name));
        }
    }
    for f in &m.printf {
        f.parsed().map_err(|e| format!("printf format {:?}: {e}", f.format))?;
    }
    for r in &m.data_relocations {
        if u64::from(*r) + 8 > data {
            return Err(format!("relocation at {r} is outside the data section"));
        }
    }
    let mut end = 0;
    for v in &m.variables {
        let start = u64::from(v.start);
        if start < end || !v.start.is_multiple_of(VARIABLE_ALIGN) || start + u64::from(v.bytes) > data {
            return Err(format!("variable `{}` is outside the data section, or where it cannot be", v.name));
        }
        end = start + u64::from(v.bytes);
    }
    if !m.data_align.is_power_of_two() || m.data_align > MOST_DATA_ALIGN {
        return Err(format!("the data section's alignment is {}", m.data_align));
    }
    Ok(())
}

/// Files and the position of each instruction from the DWARF line table; `None` if there is none or it is damaged.
fn lines(elf: &object::File, count: usize) -> Option<(Vec<String>, Vec<SourceLoc>)> {
    let load = |id: gimli::SectionId| -> Result<std::borrow::Cow<[u8]>, gimli::Error> {
        Ok(elf.section_by_name(id.name()).and_then(|s| s.uncompressed_data().ok()).unwrap_or_default())
    };
    let sections = gimli::DwarfSections::load(load).ok()?;
    let dwarf = sections.borrow(|s| gimli::EndianSlice::new(s, gimli::RunTimeEndian::Little));
    let mut files: Vec<String> = Vec::new();
    let mut result = vec![SourceLoc::default(); count];
    let mut units = dwarf.units();
    while let Some(header) = units.next().ok()? {
        let unit = dwarf.unit(header).ok()?;
        let Some(program) = unit.line_program.clone() else { continue };
        let mut rows = program.rows();
        let mut previous: Option<(usize, SourceLoc)> = None;
        while let Some((header, row)) = rows.next_row().ok()? {
            let at = (row.address() / INSTRUCTION_BYTES as u64) as usize;
            if let Some((from, loc)) = previous {
                for slot in result.get_mut(from..at.min(count)).into_iter().flatten() {
                    *slot = loc;
                }
            }
            previous = None;
            if row.end_sequence() {
                continue;
            }
            let name = match row.file(header) {
                Some(f) => dwarf.attr_string(&unit, f.path_name()).ok()?.to_string_lossy().into_owned(),
                None => String::new(),
            };
            let file = files.iter().position(|f| *f == name).unwrap_or_else(|| {
                files.push(name);
                files.len() - 1
            });
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(c) => c.get() as u32,
            };
            let line = row.line().map_or(0, |l| l.get() as u32);
            previous = Some((at, SourceLoc { file: file as u32, line, column, point: 0 }));
        }
    }
    Some((files, result))
}
