//! `--dump`: graphs of the compiler's work as DOT, for graphviz.
//!
//! - `cfg`: blocks of the finished code (or of the stage at which compilation stops), divergent branches with
//!   where they reconverge;
//! - `ddg`: dependences within each block as the scheduler sees them, before it reorders: register (solid,
//!   with the cycles to wait) and order (dashed);
//! - `interference`: live ranges after partitioning, each with its register file; an edge joins two that are
//!   live at the same time in the same file, so cannot share a register. Pieces of time are
//!   [`super::color`]'s intervals.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::color::{Graph, Segment};
use super::context::Context;
use super::{FunctionStats, ranges, schedule};
use heddle_isa::{Inst, Op, VReg, text};
use heddle_mir::cfg::Cfg;
use heddle_mir::print::class_name;
use heddle_mir::{Bank, Function};
use heddle_object::metadata::version_name;
use heddle_target::Machine;

/// A graph to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Dump {
    /// Control-flow graph.
    Cfg,
    /// Data-dependence graphs of the blocks.
    Ddg,
    /// Interference of live ranges.
    Interference,
}

/// Instructions that a block of the control-flow graph shows.
const SHOWN: usize = 60;

/// Makes a graph of the function as it is, if it is wanted.
pub(super) fn make(graph: Dump, function: &Function, context: &mut Context) {
    if !context.options.dump.contains(&graph) {
        return;
    }
    let text = match graph {
        Dump::Cfg => control_flow(function),
        Dump::Ddg => dependences(function, context.machine),
        Dump::Interference => interference(function, context.machine),
    };
    context.stats.dumps.push((graph, text));
}

/// Puts the graphs in the order of [`Dump`]; the first one that is wanted and was not made.
pub(super) fn in_order(wanted: &[Dump], stats: &mut FunctionStats) -> Option<Dump> {
    stats.dumps.sort_by_key(|(d, _)| *d as u8);
    wanted.iter().copied().find(|wanted| !stats.dumps.iter().any(|(d, _)| d == wanted))
}

/// A DOT string: in quotes, each line left-aligned.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\l"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn head(out: &mut String, kind: &str, function: &Function) {
    let _ = writeln!(out, "{kind} {} {{", quoted(&version_name(&function.name, function.rows_fill_warps)));
    let _ = writeln!(
        out,
        "  fontname=\"monospace\"; node [shape=box, fontname=\"monospace\", fontsize=10]; \
         edge [fontname=\"monospace\", fontsize=9];"
    );
}

fn control_flow(function: &Function) -> String {
    let cfg = Cfg::new(function);
    let mut out = String::new();
    head(&mut out, "digraph", function);
    for &block in &function.layout {
        let data = &function.blocks[block];
        let mut label = format!("{block}: frequency {}\n", data.frequency);
        for inst in data.insts.iter().take(SHOWN) {
            let _ = writeln!(label, "  {}", text::print_inst(inst, &function.files));
        }
        if data.insts.len() > SHOWN {
            let _ = writeln!(label, "  … {} more", data.insts.len() - SHOWN);
        }
        let divergent = data.insts.iter().any(|i| i.op == Op::BraDivergent);
        let style = if divergent { ", style=bold, xlabel=\"divergent\"" } else { "" };
        let _ = writeln!(out, "  {block} [label={}{style}];", quoted(&label));
        let branch = data.insts.iter().rev().take(2).find(|i| matches!(i.op, Op::BraDivergent | Op::BraScalar));
        for (k, s) in cfg.edges[block].succs.iter().enumerate() {
            let label = if branch.is_some() { [" [label=\"taken\"]", " [label=\"falls through\"]"][k.min(1)] } else { "" };
            let _ = writeln!(out, "  {block} -> {s}{label};");
        }
    }
    for d in cfg.divergent_branches(function) {
        if let Some(r) = d.reconverge {
            let _ = writeln!(out, "  {} -> {r} [style=dotted, constraint=false, label=\"reconverges\"];", d.branch);
        }
    }
    out.push_str("}\n");
    out
}

fn dependences(function: &Function, machine: &Machine) -> String {
    let mut out = String::new();
    head(&mut out, "digraph", function);
    for &block in &function.layout {
        let insts = &function.blocks[block].insts;
        let _ = writeln!(out, "  subgraph \"cluster_{block}\" {{\n    label=\"{block}\";");
        for (i, inst) in insts.iter().enumerate() {
            let text = format!("{i}: {}", text::print_inst(inst, &function.files));
            let _ = writeln!(out, "    {block}_{i} [label={}];", quoted(&text));
        }
        out.push_str("  }\n");
        let body = insts.iter().rposition(|i| !i.info().flags.terminator).map_or(0, |p| p + 1);
        for (from, edges) in schedule::dependence_edges(function, machine, &insts[..body]).iter().enumerate() {
            for &(to, wait) in edges {
                let style = if feeds(&insts[from], &insts[to as usize]) {
                    format!("label=\"{wait}\"")
                } else {
                    "style=dashed".to_string()
                };
                let _ = writeln!(out, "  {block}_{from} -> {block}_{to} [{style}];");
            }
        }
    }
    out.push_str("}\n");
    out
}

/// Whether an instruction reads what another writes.
fn feeds(from: &Inst, to: &Inst) -> bool {
    let Some((reg, words)) = heddle_mir::liveness::def(from) else { return false };
    let mut found = false;
    heddle_mir::liveness::for_each_use(to, |r, m| found |= r == reg && m & words != 0);
    found
}

fn interference(function: &Function, machine: &Machine) -> String {
    let view = ranges::LiveView::new(function);
    let mut out = String::new();
    head(&mut out, "graph", function);
    let clusters = (0..machine.clusters.len() as u8).map(Some).chain([None]);
    let mut files: Vec<(String, Graph)> = clusters
        .map(|owner| {
            let mine = |r: VReg| function.vregs[r].bank == Bank::Vector && function.local[r] == owner;
            let name =
                owner.map_or_else(|| "main".to_string(), |c| format!("local of {}", machine.clusters[usize::from(c)].name));
            (name, ranges::interference_where(function, &view, mine, |_| false))
        })
        .collect();
    for (bank, name) in [(Bank::Scalar, "scalar"), (Bank::Predicate, "predicate")] {
        files.push((name.into(), ranges::interference(function, &view, bank, |_| false)));
    }
    for (f, (name, graph)) in files.iter().enumerate().filter(|(_, (_, g))| !g.nodes.is_empty()) {
        let _ = writeln!(out, "  subgraph \"cluster_{f}\" {{\n    label={};", quoted(name));
        for node in &graph.nodes {
            let label = format!("{} {}", node.reg, class_name(function.vregs[node.reg]));
            let _ = writeln!(out, "    {} [label={}];", quoted(&node.reg.to_string()), quoted(&label));
        }
        out.push_str("  }\n");
        for (a, b) in overlapping(graph) {
            let (a, b) = (graph.nodes[a].reg.to_string(), graph.nodes[b].reg.to_string());
            let _ = writeln!(out, "  {} -- {};", quoted(&a), quoted(&b));
        }
    }
    out.push_str("}\n");
    out
}

/// Pairs of nodes that are live at the same time: a sweep over the starts of their intervals.
fn overlapping(graph: &Graph) -> Vec<(usize, usize)> {
    let mut spans: Vec<(Segment, usize)> = Vec::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        for word in 0..node.words {
            spans.extend(graph.word(i, word).iter().map(|s| (*s, i)));
        }
    }
    spans.sort_unstable();
    // Nodes that are live, with the end of their longest interval so far.
    let mut open: BTreeMap<usize, u32> = BTreeMap::new();
    let mut pairs = std::collections::BTreeSet::new();
    for (s, i) in spans {
        open.retain(|_, end| *end > s.start);
        pairs.extend(open.keys().filter(|o| **o != i).map(|o| (*o.min(&i), *o.max(&i))));
        let end = open.entry(i).or_default();
        *end = (*end).max(s.end);
    }
    pairs.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_entity::EntityRef;

    #[test]
    fn what_is_live_together_interferes() {
        let mut g = Graph::default();
        g.add(VReg::new(0), 1.0, &[&[(0, 4), (8, 10)]]);
        g.add(VReg::new(1), 1.0, &[&[(4, 8)], &[(3, 5)]]);
        g.add(VReg::new(2), 1.0, &[&[(6, 9)]]);
        assert_eq!(overlapping(&g), [(0, 1), (0, 2), (1, 2)]);
        g.nodes.truncate(0);
        g.add(VReg::new(3), 1.0, &[&[(0, 4)]]);
        g.add(VReg::new(4), 1.0, &[&[(4, 8)]]);
        assert!(overlapping(&g).is_empty());
    }

    #[test]
    fn labels_are_dot_strings() {
        assert_eq!(quoted("a \"b\" \\ c\n"), r#""a \"b\" \\ c\l""#);
    }
}
