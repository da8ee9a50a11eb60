//! The parser of MIR text, inverse to [`super::print`]. Lines that are empty or start with `;` or `//` are
//! skipped, so that tests can carry their RUN and CHECK lines; instructions may end in a `;` comment. Nothing
//! in the text is trusted: whatever it holds, the result is a module or an error with its place.

use cranelift_entity::EntityRef;

use heddle_isa::surface::{Surface, SurfaceIds};
use heddle_isa::text::column_of;
use heddle_isa::text::{BlockNames, parse_block, parse_inst};

use super::{Bank, BlockData, DataSection, Function, Module, RegClass};
use heddle_object::metadata::{Access, KernelArgument, Redzone, TypeQualifiers, Variable, WorkingSet};
use heddle_object::printf::PrintfFormat;

/// An error with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Lines and columns of a kernel's instructions, in order of the layout.
pub type Places = Vec<(usize, usize)>;

/// Where names were used before it is known whether they exist.
#[derive(Default)]
struct Uses {
    /// Lines and columns of the instructions, in order.
    places: Places,
    /// Which blocks stand in the text.
    blocks: fixedbitset::FixedBitSet,
}

/// Parses a module.
///
/// # Errors
/// The first line that is no MIR, with the reason.
pub fn parse_module(text: &str) -> Result<Module, ParseError> {
    parse_with_places(text).map(|(module, _)| module)
}

/// Parses a module; also gives the places of each kernel's instructions.
///
/// # Errors
/// As [`parse_module`].
pub fn parse_with_places(text: &str) -> Result<(Module, Vec<Places>), ParseError> {
    let mut module = Module::default();
    let mut places = Vec::new();
    let mut current: Option<Function> = None;
    let mut uses = Uses::default();
    let mut block = None;
    for (number, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with(';') || line.starts_with("//") {
            continue;
        }
        let indent = raw.len() - raw.trim_start().len();
        let at =
            |offset: usize, message: String| ParseError { line: number + 1, column: column_of(raw, indent + offset), message };
        let fail = |message: String| at(0, message);
        match &mut current {
            None => {
                let words = words(line).map_err(fail)?;
                match words.first().map(String::as_str) {
                    Some("data") => module.data = data(&words).map_err(fail)?,
                    Some("variable") => module.data.variables.push(variable(&words).map_err(fail)?),
                    Some("printf") => module.printf.push(printf(&words).map_err(fail)?),
                    Some("kernel") => current = Some(header(&words).map_err(fail)?),
                    _ => {
                        return Err(fail(format!(
                            "expected `kernel @name … {{`, `data …`, `variable …` or `printf …`, found `{line}`"
                        )));
                    }
                }
                block = None;
                uses = Uses::default();
            }
            Some(f) => {
                if line == "}" {
                    names_exist(f, &uses, text)?;
                    if f.layout.is_empty() {
                        return Err(fail(format!("kernel @{} has no block", f.name)));
                    }
                    module.functions.extend(current.take());
                    places.push(std::mem::take(&mut uses.places));
                } else if let Some((name, rest)) = line.split_once(':').filter(|(n, _)| n.starts_with("bb") && !n.contains(' ')) {
                    let b = parse_block(name).map_err(fail)?;
                    while !f.blocks.is_valid(b) {
                        f.blocks.push(BlockData { insts: Vec::new(), frequency: 1.0 });
                    }
                    uses.blocks.grow(f.blocks.len());
                    if uses.blocks.put(b.index()) {
                        return Err(fail(format!("{b} is there twice")));
                    }
                    let rest = rest.split(';').next().unwrap_or_default().trim();
                    if let Some(v) = rest.strip_prefix("frequency ") {
                        let v = v.trim().parse::<f32>().ok().filter(|v| v.is_finite() && *v >= 0.0);
                        f.blocks[b].frequency = v.ok_or_else(|| fail("a frequency is a number from 0".into()))?;
                    } else if !rest.is_empty() {
                        return Err(at(name.len() + 1, format!("unexpected `{rest}`; a block is `{b}: frequency N`")));
                    }
                    f.layout.push(b);
                    block = Some(b);
                } else if let Some(b) = block {
                    let inst = parse_inst(line, &mut BlockNames).map_err(|e| at(e.offset, e.message))?;
                    f.blocks[b].insts.push(inst);
                    uses.places.push((number + 1, column_of(raw, indent)));
                } else {
                    declaration(f, line).map_err(fail)?;
                }
            }
        }
    }
    if let Some(f) = current {
        let message = format!("kernel @{} is not closed by `}}`", f.name);
        return Err(ParseError { line: text.lines().count(), column: 1, message });
    }
    Ok((module, places))
}

/// Registers and blocks that instructions name must be declared. The error has the place of the name.
fn names_exist(f: &Function, uses: &Uses, text: &str) -> Result<(), ParseError> {
    let insts = f.layout.iter().flat_map(|b| &f.blocks[*b].insts);
    for (inst, &(line, column)) in insts.zip(&uses.places) {
        let at = |name: String, message: String| {
            let raw = text.lines().nth(line - 1).unwrap_or_default();
            let whole = |at: &usize| !raw[at + name.len()..].starts_with(|c: char| c.is_ascii_digit());
            let place = raw.match_indices(&name).map(|(at, _)| at).find(whole);
            ParseError { line, column: place.map_or(column, |at| column_of(raw, at)), message }
        };
        let guard = inst.guard.map(|g| heddle_isa::Operand::Reg(g.reg));
        for op in inst.srcs.iter().chain([&inst.dst]).copied().chain(guard) {
            if let Some((r, _)) = op.as_virt().filter(|(r, _)| !f.vregs.is_valid(*r)) {
                return Err(at(r.to_string(), format!("{r} is not in the `registers` line, which has {}", f.vregs.len())));
            }
        }
        if let Some(t) = inst.blocks().iter().find(|t| !uses.blocks.contains(t.index())) {
            return Err(at(t.to_string(), format!("block {t} does not exist")));
        }
    }
    Ok(())
}

/// Splits into words; quoted strings (JSON escapes) are one word, without the quotes.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut result = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        if rest.starts_with('"') {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let text = stream.next().and_then(Result::ok).ok_or("a quoted string is not closed")?;
            rest = rest[stream.byte_offset()..].trim_start();
            result.push(text);
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            result.push(rest[..end].to_string());
            rest = rest[end..].trim_start();
        }
    }
    Ok(result)
}

fn number(words: &[String], i: usize) -> Result<u32, String> {
    words.get(i).and_then(|w| w.parse().ok()).ok_or_else(|| "a number is missing".to_string())
}

/// `printf "format" "argument types"`.
fn printf(words: &[String]) -> Result<PrintfFormat, String> {
    let [_, format, arguments] = words else {
        return Err("expected `printf \"format\" \"argument types\"`".into());
    };
    let result = PrintfFormat { format: format.clone(), arguments: arguments.clone() };
    result.parsed()?;
    Ok(result)
}

/// `variable "name" START BYTES`.
fn variable(words: &[String]) -> Result<Variable, String> {
    let [_, name, ..] = words else { return Err("expected `variable \"name\" START BYTES`".into()) };
    Ok(Variable { name: name.clone(), start: number(words, 2)?, bytes: number(words, 3)? })
}

fn data(words: &[String]) -> Result<DataSection, String> {
    let mut d = DataSection::default();
    let mut i = 1;
    while i < words.len() {
        match words[i].as_str() {
            "align" => {
                d.align = number(words, i + 1)?;
                i += 2;
            }
            "hex" => {
                let hex = words.get(i + 1).map_or("", String::as_str);
                let bytes: Option<Vec<u8>> = hex
                    .as_bytes()
                    .chunks(2)
                    .map(|c| std::str::from_utf8(c).ok().filter(|c| c.len() == 2).and_then(|c| u8::from_str_radix(c, 16).ok()))
                    .collect();
                d.bytes = bytes.ok_or("the data are not hexadecimal bytes")?;
                i += 2;
            }
            "relocations" => {
                d.relocations = (i + 1..words.len()).map(|k| number(words, k)).collect::<Result<_, _>>()?;
                i = words.len();
            }
            w => return Err(format!("unexpected `{w}`")),
        }
    }
    Ok(d)
}

fn header(words: &[String]) -> Result<Function, String> {
    let name = words.get(1).and_then(|n| n.strip_prefix('@')).ok_or("a kernel needs a name: kernel @name")?;
    let mut f = Function::new(name);
    let mut i = 2;
    while i < words.len() {
        match words[i].as_str() {
            "stage" => {
                let form = words.get(i + 1).and_then(|s| s.parse().ok());
                f.form = form.ok_or("the stages are ssa, lowered and allocated")?;
                i += 2;
            }
            "local" => {
                f.local_bytes = number(words, i + 1)?;
                i += 2;
            }
            "private" => {
                f.private_bytes = number(words, i + 1)?;
                i += 2;
            }
            "required" => {
                f.required_work_group = Some([number(words, i + 1)?, number(words, i + 2)?, number(words, i + 3)?]);
                i += 4;
            }
            "hint" => {
                f.work_group_hint = Some([number(words, i + 1)?, number(words, i + 2)?, number(words, i + 3)?]);
                i += 4;
            }
            "vector" => {
                f.vector_hint = Some(words.get(i + 1).cloned().ok_or("`vector` needs a type in quotes")?);
                i += 2;
            }
            "sub-group" => {
                f.required_sub_group = Some(number(words, i + 1)?);
                i += 2;
            }
            "fixed" => {
                f.fixed_registers = Some(number(words, i + 1)?);
                i += 2;
            }
            "demand" => {
                f.shared_demand = number(words, i + 1)?;
                i += 2;
            }
            "typical" => {
                f.shared_typical = number(words, i + 1)?;
                i += 2;
            }
            "whole" => {
                f.whole_work_groups = true;
                i += 1;
            }
            "unaligned-vectors" => {
                f.unaligned_vectors = true;
                i += 1;
            }
            "short-ids" => {
                f.short_ids = true;
                i += 1;
            }
            "rows-fill-warps" => {
                f.rows_fill_warps = true;
                i += 1;
            }
            "relieves-data-l1" => {
                f.relieves_data_l1 = true;
                i += 1;
            }
            "loads-in-lanes" => {
                f.loads_in_lanes = true;
                i += 1;
            }
            "{" => i += 1,
            w => return Err(format!("unexpected `{w}`")),
        }
    }
    Ok(f)
}

fn declaration(f: &mut Function, line: &str) -> Result<(), String> {
    let words = words(line)?;
    match words[0].as_str() {
        "file" => f.files.push(words.get(1).cloned().ok_or("a file name is missing")?),
        "arg" => {
            let kind = words.get(1).cloned().unwrap_or_default();
            let kind = serde_json::from_value(serde_json::Value::String(kind))
                .map_err(|_| "an argument is global, constant, local or value".to_string())?;
            let text = |i: usize| words.get(i).cloned().ok_or_else(|| "a quoted string is missing".to_string());
            let mut more = words.iter().skip(10).map(String::as_str);
            let before = |w: &&str| *w != "qualifiers";
            let plain: Vec<&str> = more.by_ref().take_while(before).collect();
            let access = plain.iter().position(|w| *w == "access").map(|at| plain.get(at + 1).and_then(|w| w.parse().ok()));
            f.args.push(KernelArgument {
                kind,
                name: text(2)?,
                type_name: text(3)?,
                offset: number(&words, 5)?,
                size: number(&words, 7)?,
                align: number(&words, 9)?,
                restrict: plain.contains(&"restrict"),
                read_only: plain.contains(&"readonly"),
                access: access.unwrap_or(Some(Access::None)).ok_or("access is read_only, write_only or read_write")?,
                qualifiers: TypeQualifiers::of(more),
            });
        }
        "surface" => {
            if number(&words, 1)? as usize != f.surfaces.len() {
                return Err(format!("surfaces are numbered in order; this is {}", f.surfaces.len()));
            }
            let text = |i: usize| words.get(i).map(String::as_str).ok_or_else(|| "a part of the surface is missing".to_string());
            let kinds = "a surface is typed-buffer, raw-buffer, typed-uav or untyped-uav";
            f.surfaces.push(Surface {
                argument: number(&words, 3)?,
                kind: text(4)?.parse().map_err(|_| kinds.to_string())?,
                strides: [text(6)?.parse()?, text(7)?.parse()?, text(8)?.parse()?],
                base: text(10)?.parse()?,
                ids: match words.get(12) {
                    Some(ids) => ids.parse().map_err(|_| "a surface's ids are global, relative or local".to_string())?,
                    None => SurfaceIds::default(),
                },
            });
        }
        "working-set" => {
            let uniform = match words.get(1).map(String::as_str) {
                Some("data") => false,
                Some("uniform") => true,
                _ => return Err("a working set is of the data or the uniform L1".into()),
            };
            let text =
                |i: usize| words.get(i).map(String::as_str).ok_or_else(|| "a stride of the working set is missing".to_string());
            let strides = [text(2)?.parse()?, text(3)?.parse()?, text(4)?.parse()?];
            f.working_sets.push(WorkingSet { uniform, strides });
        }
        "literals" => {
            let word = |w: &String| {
                let hex = w.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
                hex.ok_or_else(|| format!("`{w}`: literals are hexadecimal words, as in 0x3f800000"))
            };
            let is_word = |i: usize, name: &str| words.get(i).is_some_and(|w| w == name);
            if !is_word(1, "offset") || !is_word(3, "words") || !f.literals.is_empty() {
                return Err("one line has all literals: literals offset BYTE words 0x3f800000 …".into());
            }
            f.literals.offset = number(&words, 2)?;
            f.literals.words = words.iter().skip(4).map(word).collect::<Result<_, _>>()?;
        }
        "redzone" => {
            let space = words.get(1).and_then(|w| w.parse().ok()).ok_or("a redzone is in local or private memory")?;
            let (start, end) = (number(&words, 2)?, number(&words, 3)?);
            f.redzones.push(Redzone { space, start, end });
        }
        "registers" => {
            for whole in &words[1..] {
                let (w, cluster) = match whole.split_once(".c") {
                    Some((w, c)) => {
                        let c: u8 = c.parse().map_err(|_| format!("`{whole}`: a cluster is a number, as in v1.c0"))?;
                        (w, Some(c))
                    }
                    None => (whole.as_str(), None),
                };
                if cluster.is_some() && !w.starts_with('v') {
                    return Err(format!("`{whole}`: only vector registers live in local files"));
                }
                let bank = match w.as_bytes().first() {
                    Some(b'v') => Bank::Vector,
                    Some(b's') => Bank::Scalar,
                    Some(b'p') => Bank::Predicate,
                    _ => return Err(format!("`{w}` is no register class (v1 v2 v4 s1 s2 s4 p)")),
                };
                let count = match (bank, &w[1..]) {
                    (Bank::Predicate, "") => 0,
                    (Bank::Vector | Bank::Scalar, "1") => 1,
                    (Bank::Vector | Bank::Scalar, "2") => 2,
                    (Bank::Vector | Bank::Scalar, "4") => 4,
                    _ => return Err(format!("`{w}` is no register class (v1 v2 v4 s1 s2 s4 p)")),
                };
                let reg = f.vregs.push(RegClass { bank, words: count });
                if cluster.is_some() {
                    f.local[reg] = cluster;
                }
            }
        }
        w => return Err(format!("unexpected `{w}`")),
    }
    Ok(())
}
