//! The text of MIR. [`super::parse`] is its inverse.
//!
//! ```text
//! data align 256 hex "00ff" relocations 8
//! variable "table" 0 2
//! printf "%d\n" "i32"
//! kernel @saxpy stage ssa local 0 private 0 required 64 1 1 {
//!   file "saxpy.cl"
//!   arg global "X" "float*" offset 8 size 8 align 0
//!   registers v1 s2 p
//! bb0: frequency 1
//!   mov.b32 %0, gid.x !0:3:11
//! }
//! ```

use std::fmt::Write;

use super::variables::{Held, Key};
use super::{Bank, Function, Module, RegClass};
use heddle_isa::{Inst, text};
use heddle_object::variables::{Value, Word};

/// A string as the parser reads it: with JSON's escapes.
fn quoted(s: &str) -> String {
    serde_json::Value::from(s).to_string()
}

/// Prints a module.
pub fn print_module(module: &Module) -> String {
    let mut out = String::new();
    if module.data != Default::default() {
        let _ = write!(out, "data align {} hex \"", module.data.align);
        for b in &module.data.bytes {
            let _ = write!(out, "{b:02x}");
        }
        out.push('"');
        if !module.data.relocations.is_empty() {
            out.push_str(" relocations");
            for r in &module.data.relocations {
                let _ = write!(out, " {r}");
            }
        }
        out.push('\n');
        for v in &module.data.variables {
            let _ = writeln!(out, "variable {} {} {}", quoted(&v.name), v.start, v.bytes);
        }
        out.push('\n');
    }
    for p in &module.printf {
        let _ = writeln!(out, "printf {} {}", quoted(&p.format), quoted(&p.arguments));
    }
    if !module.printf.is_empty() {
        out.push('\n');
    }
    for f in &module.functions {
        print_function(f, &mut out);
        out.push('\n');
    }
    out
}

/// The text of a register class: `v1 v2 v4 s1 s2 s4 p`.
pub fn class_name(class: RegClass) -> String {
    match class.bank {
        Bank::Vector => format!("v{}", class.words),
        Bank::Scalar => format!("s{}", class.words),
        Bank::Predicate => "p".into(),
    }
}

/// Prints a function.
pub fn print_function(f: &Function, out: &mut String) {
    let _ = write!(out, "kernel @{} stage {} local {} private {}", f.name, f.form, f.local_bytes, f.private_bytes);
    if let Some([x, y, z]) = f.required_work_group {
        let _ = write!(out, " required {x} {y} {z}");
    }
    if let Some([x, y, z]) = f.work_group_hint {
        let _ = write!(out, " hint {x} {y} {z}");
    }
    if let Some(t) = &f.vector_hint {
        let _ = write!(out, " vector {}", quoted(t));
    }
    if let Some(n) = f.required_sub_group {
        let _ = write!(out, " sub-group {n}");
    }
    if f.whole_work_groups {
        out.push_str(" whole");
    }
    if f.short_ids {
        out.push_str(" short-ids");
    }
    if f.unaligned_vectors {
        out.push_str(" unaligned-vectors");
    }
    if f.rows_fill_warps {
        out.push_str(" rows-fill-warps");
    }
    if f.relieves_data_l1 {
        out.push_str(" relieves-data-l1");
    }
    if f.loads_in_lanes {
        out.push_str(" loads-in-lanes");
    }
    if let Some(fixed) = f.fixed_registers {
        let _ = write!(out, " fixed {fixed} demand {} typical {}", f.shared_demand, f.shared_typical);
    }
    out.push_str(" {\n");
    for file in &f.files {
        let _ = writeln!(out, "  file {}", quoted(file));
    }
    for a in &f.args {
        let kind = serde_json::to_value(a.kind).ok().and_then(|k| k.as_str().map(String::from)).unwrap_or_default();
        let _ = write!(
            out,
            "  arg {kind} {} {} offset {} size {} align {}",
            quoted(&a.name),
            quoted(&a.type_name),
            a.offset,
            a.size,
            a.align
        );
        for (word, holds) in [(" restrict", a.restrict), (" readonly", a.read_only)] {
            out.push_str(if holds { word } else { "" });
        }
        if !a.access.is_none() {
            let _ = write!(out, " access {}", a.access);
        }
        if !a.qualifiers.is_empty() {
            let _ = write!(out, " qualifiers {}", a.qualifiers.words().collect::<Vec<_>>().join(" "));
        }
        out.push('\n');
    }
    for (i, s) in f.surfaces.iter().enumerate() {
        let [x, y, z] = &s.strides;
        let ids = if s.ids.is_global() { String::new() } else { format!(" ids {}", s.ids) };
        let place = format!("strides \"{x}\" \"{y}\" \"{z}\" base \"{}\"{ids}", s.base);
        let _ = writeln!(out, "  surface {i} arg {} {} {place}", s.argument, s.kind);
    }
    for w in &f.working_sets {
        let [x, y, z] = &w.strides;
        let _ = writeln!(out, "  working-set {} \"{x}\" \"{y}\" \"{z}\"", if w.uniform { "uniform" } else { "data" });
    }
    if !f.literals.is_empty() {
        let words: Vec<String> = f.literals.words.iter().map(|w| format!("{w:#x}")).collect();
        let _ = writeln!(out, "  literals offset {} words {}", f.literals.offset, words.join(" "));
    }
    for z in &f.redzones {
        let _ = writeln!(out, "  redzone {} {} {}", z.space, z.start, z.end);
    }
    if !f.vregs.is_empty() {
        out.push_str("  registers");
        for (reg, class) in f.vregs.iter() {
            let _ = write!(out, " {}", class_name(*class));
            if let Some(cluster) = f.local[reg] {
                let _ = write!(out, ".c{cluster}");
            }
        }
        out.push('\n');
    }
    for block in &f.layout {
        let data = &f.blocks[*block];
        let _ = writeln!(out, "{block}: frequency {}", data.frequency);
        let mut last = None;
        for inst in &data.insts {
            if let Some(held) = f.variables.as_ref().and_then(|v| v.held_before(inst)).filter(|h| last != Some(*h)) {
                print_held(f, held, out);
                last = Some(held);
            }
            let _ = writeln!(out, "  {}", print_inst(f, inst));
        }
    }
    out.push_str("}\n");
}

/// An instruction's text.
fn print_inst(f: &Function, inst: &Inst) -> String {
    text::print_with(inst, &|distance| format!("{distance:+}"), &|offset| f.literals.word(offset))
}

/// Where variables are from here on, as a comment.
fn print_held(f: &Function, held: &Held, out: &mut String) {
    let Some(variables) = &f.variables else { return };
    let one = |((variable, part), value): (&Key, &Value<Word>)| {
        let name = variables.variables.variables.get(*variable as usize).map_or("?", |v| v.name.as_str());
        let part = part.map_or_else(String::new, |(first, bits)| format!("<{first}+{bits}>"));
        format!("{name}{part} = {value}")
    };
    let all: Vec<String> = held.values.iter().map(one).collect();
    let _ = writeln!(out, "  ; {}", if all.is_empty() { "no variable is known".into() } else { all.join(", ") });
}
