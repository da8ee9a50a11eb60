//! Variables of the source: LLVM's bindings of variables to values as bindings to operands.
//!
//! A binding is looked at where it stands, when the value that it names has been selected. Nothing is selected for it:
//! what has no operands then (a value that was folded into its users, say) is not known. So code is the same with and
//! without debug information. What comes of bindings later is told in [`heddle_mir::variables`].

use std::str::FromStr;

use heddle_isa::{Operand, Special};
use heddle_llvm_passes::ir::debug::{self, Node, Record};
use heddle_llvm_passes::ir::{BlockRef, Value, address_space};
use heddle_mir::variables::{Bindings, Event, Key, Point};
use heddle_object::metadata::CONSTANT_WORDS;
use heddle_object::variables::{
    Address, Encoding, Member, Operation, Piece, Scope, Step, Type, Value as Bound, Variable, Variables,
};
use inkwell::llvm_sys::LLVMOpcode;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::address::{self, Root};
use crate::leaf::Leaf;
use crate::{Selector, constants};

/// The bindings of a module, by the instruction that they stand before.
pub(crate) type Records = FxHashMap<Value, Vec<Record>>;

/// Numbers of what has been described.
#[derive(Default)]
pub(crate) struct Described {
    types: FxHashMap<Node, u32>,
    scopes: FxHashMap<(Node, Option<Node>), u32>,
    variables: FxHashMap<(Node, Option<Node>), u32>,
    /// Instructions of the current block that LLVM has moved to where their statements do not begin.
    moved: FxHashSet<Value>,
    /// The instances of statements that instructions of the current block belong to, and the last number.
    instances: FxHashMap<Value, u32>,
    last_instance: u32,
    /// For each loop the scopes of what is in it, but for the outermost one.
    inside: Vec<FxHashSet<u32>>,
}

/// Begins with the kernel's own scope, if there is debug information.
pub(crate) fn begin(s: &mut Selector) {
    if s.records.is_empty() {
        return;
    }
    if let Some(subprogram) = Node::of_function(s.cx.kernel) {
        let mut bindings = Box::<Bindings>::default();
        s.described.scope(&mut bindings.variables, subprogram, None);
        for l in &s.cx.uniformity.cfg().loops {
            let blocks = l.members.ones().map(|b| s.cx.uniformity.cfg().blocks[b]);
            let inside = s.described.scopes_in(&mut bindings.variables, blocks);
            s.described.inside.push(inside);
        }
        s.out.f.variables = Some(bindings);
    }
}

/// What is selected from here on is about an instruction: the bindings before it hold, and it has its point.
pub(crate) fn before(s: &mut Selector, i: Value) {
    let Some(mut bindings) = s.out.f.variables.take() else { return };
    let records: &Records = s.records;
    for record in records.get(&i).into_iter().flatten() {
        bind(s, &mut bindings, record);
    }
    let scope = match debug::location(i) {
        Some(place) => s.described.scope(&mut bindings.variables, place.scope(), place.inlined_at()),
        None => bindings.points.last().and_then(|p| p.scope),
    };
    // What merges values is no statement, though it may have the line of one.
    let moved = i.opcode() == LLVMOpcode::LLVMPHI || s.described.moved.contains(&i);
    let instance = s.described.instances.get(&i).copied().unwrap_or(0);
    let point = Point { block: Some(s.out.current), events: bindings.events.len() as u32, scope, moved, instance };
    if bindings.points.last() != Some(&point) {
        bindings.points.push(point);
    }
    s.out.loc.point = bindings.points.len() as u32;
    s.out.f.variables = Some(bindings);
}

/// A block is selected from here on.
pub(crate) fn enter(s: &mut Selector, block: BlockRef) {
    let Some(bindings) = &mut s.out.f.variables else { return };
    let cfg = s.cx.uniformity.cfg();
    let Some(here) = cfg.index.get(&block).copied() else { return };
    let is_left = |l: &usize| {
        let members = &cfg.loops[*l].members;
        !members.contains(here) && cfg.preds[here].iter().chain(&cfg.succs[here]).any(|b| members.contains(*b))
    };
    let left = (0..cfg.loops.len()).filter(is_left);
    s.described.find_statements(&mut bindings.variables, block, &left.collect::<Vec<_>>());
}

fn bind(s: &mut Selector, bindings: &mut Bindings, record: &Record) {
    let inlined = record.location.inlined_at();
    let Some(variable) = s.described.variable(&mut bindings.variables, record.variable, inlined) else { return };
    let expression = Expression::parse(&record.expression.text());
    let key: Key = (variable, expression.as_ref().and_then(|e| e.part));
    let value = record.value.zip(expression).and_then(|(value, e)| bound(s, value, e, record.declares));
    if record.declares {
        bindings.everywhere.extend(value.map(|v| (key, v)));
        return;
    }
    bindings.events.push(Event { block: s.out.current, key, value });
}

/// What is computed from a bound value.
#[derive(Debug, PartialEq)]
struct Expression {
    steps: Vec<Step>,
    /// First bit and bits of the variable that it is about.
    part: Option<(u32, u32)>,
    /// The result is the variable's address.
    address: bool,
}

impl Expression {
    /// Reads LLVM's text; `None` for what has another meaning than steps on one value.
    fn parse(text: &str) -> Option<Expression> {
        let mut words = text.split(", ").filter(|w| !w.is_empty()).peekable();
        let mut result = Expression { steps: Vec::new(), part: None, address: false };
        let mut is_value = false;
        while let Some(word) = words.next() {
            let name = word.strip_prefix("DW_OP_")?;
            let mut number = || words.next()?.parse::<i128>().ok().map(|n| n as u64);
            match name {
                "stack_value" => is_value = true,
                "LLVM_fragment" => result.part = Some((number()? as u32, number()? as u32)),
                "plus_uconst" => result.steps.extend([Step::Push(number()?), Step::Operation(Operation::Plus)]),
                "constu" | "consts" => result.steps.push(Step::Push(number()?)),
                "neg" => result.steps.push(Step::Negate),
                "not" => result.steps.push(Step::Not),
                "LLVM_convert" => {
                    let bits = number()? as u32;
                    let signed = matches!(words.next()?, "DW_ATE_signed" | "DW_ATE_signed_char");
                    result.steps.push(Step::Convert { bits, signed });
                }
                "LLVM_arg" if number()? == 0 => {}
                "deref" if words.peek().is_none_or(|w| *w == "DW_OP_LLVM_fragment") => result.address = true,
                _ => match name.strip_prefix("lit") {
                    Some(n) => result.steps.push(Step::Push(n.parse().ok()?)),
                    None => result.steps.push(Step::Operation(Operation::from_str(name).ok()?)),
                },
            }
        }
        (!(is_value && result.address)).then_some(result)
    }

    /// The steps if they only add a number: the number.
    fn distance(&self) -> Option<i32> {
        match self.steps[..] {
            [] => Some(0),
            [Step::Push(n), Step::Operation(Operation::Plus)] => i32::try_from(n).ok(),
            _ => None,
        }
    }

    /// Whether the steps mean the same for a number of so many bytes as for one of 64 bits.
    fn suits(&self, bytes: u32) -> bool {
        let widens = |s: &Step| matches!(s, Step::Operation(Operation::Div | Operation::Mod | Operation::Shra));
        self.steps.is_empty() || bytes == 8 || bytes < 8 && !self.steps.iter().any(widens)
    }
}

/// The operands of a bound value.
fn bound(s: &mut Selector, v: Value, expression: Expression, declares: bool) -> Option<Bound<Operand>> {
    if declares || expression.address {
        let mut address = pointer(s, v)?;
        address.immediate = address.immediate.checked_add(expression.distance()?)?;
        return Some(Bound::Memory(address));
    }
    if let Some(pieces) = pieces(s, v) {
        let bytes = pieces.iter().map(|p| p.offset + p.bytes).max().unwrap_or(0);
        return expression.suits(bytes).then_some(Bound::Pieces(pieces, expression.steps));
    }
    let generic = v.is_pointer() && v.address_space() == 0;
    let address = pointer(s, v).filter(|a| !generic || a.whole)?;
    Some(Bound::Pointer(address, expression.steps))
}

/// Bytes of a value from operands that it has.
fn pieces(s: &Selector, v: Value) -> Option<Vec<Piece<Operand>>> {
    let leaves = s.cx.leaves(v);
    let piece = |leaf: &Leaf, skipped: u32, words: Option<Vec<Operand>>| {
        let mut words = words?;
        // Pointers of one word have two in memory.
        words.resize((leaf.bytes().div_ceil(4) as usize).max(words.len()), Operand::Immediate(0));
        Some(Piece { offset: leaf.offset, bytes: leaf.bytes(), skipped, words })
    };
    if v.is_argument() && s.arguments.by_value.contains_key(&v) {
        return None;
    }
    // What lies behind the words that operands name is in registers, as other values are.
    let named = |base: &&u32| u64::from(**base) + s.cx.layout.size(v.type_of()) <= 4 * u64::from(CONSTANT_WORDS);
    if let Some(base) = s.arguments.offsets.get(&v).filter(named) {
        let of_bank = |leaf: &Leaf| {
            let at = base + leaf.offset;
            piece(leaf, at % 4, words_of(Operand::Constant(u8::try_from(at / 4).ok()?), leaf.words().max(1)))
        };
        return leaves.iter().map(of_bank).collect();
    }
    if v.is_constant() {
        let mut bits = Vec::new();
        if v.is_global_variable() || !constants::flatten(s.cx.layout, v, &mut bits) || bits.len() != leaves.len() {
            return None;
        }
        let known = |(leaf, bits): (&Leaf, &u64)| {
            piece(leaf, 0, Some(vec![Operand::Immediate(*bits as u32), Operand::Immediate((bits >> 32) as u32)]))
        };
        return leaves.iter().zip(&bits).map(known).collect();
    }
    let parts = s.values.get(v).filter(|p| p.len() == leaves.len())?;
    leaves.iter().zip(parts).map(|(leaf, op)| piece(leaf, 0, words_of(*op, leaf.words().max(1)))).collect()
}

/// The words of an operand; `None` if it is no value that stays.
fn words_of(op: Operand, words: u8) -> Option<Vec<Operand>> {
    let word = |w: u8| match op {
        Operand::Reg(_) => op.as_virt().map(|(reg, first)| Operand::virt_word(reg, first + w)),
        Operand::Constant(c) => Some(Operand::Constant(c.checked_add(w)?)),
        Operand::Immediate(v) if w == 0 => Some(Operand::Immediate(v)),
        Operand::Immediate(v) => Some(Operand::Immediate(if (v as i32) < 0 { u32::MAX } else { 0 })),
        Operand::Special(Special::ClockLow | Special::ExecLow | Special::ExecHigh) => None,
        Operand::Special(_) => (words == 1).then_some(op),
        Operand::None => None,
    };
    (0..words).map(word).collect()
}

/// A pointer's address, if it has been taken apart.
fn pointer(s: &Selector, v: Value) -> Option<Address<Operand>> {
    if !v.is_pointer() {
        return None;
    }
    if let Some(argument) = s.arguments.by_value.get(&v) {
        let (space, at) = match argument.copy {
            Some(at) => (heddle_isa::MemorySpace::Private, at),
            None => (heddle_isa::MemorySpace::Argument, argument.offset),
        };
        return Some(Address { space, base: Vec::new(), whole: false, offsets: Vec::new(), immediate: at as i32 });
    }
    let known: address::Address = match s.addresses.get(v) {
        Some(known) => known,
        // A whole pointer in a register.
        None => {
            let parts = s.values.get(v)?;
            let wide = !matches!(v.address_space(), address_space::LOCAL) && crate::leaf::is_wide(v.address_space());
            let op = *parts.first().filter(|_| wide)?;
            address::Address { root: Root::Full(op), ..address::Address::zero(address::space_of(v.address_space()), 0) }
        }
    };
    let (base, whole) = match known.root {
        Root::Zero => (Vec::new(), false),
        Root::Base(op) => (words_of(op, 2)?, false),
        Root::Full(op) => (words_of(op, 2)?, true),
        Root::Surface(_) => return None,
    };
    let offsets = known.uniform.into_iter().chain(known.varying).map(|op| Some(words_of(op, 1)?[0]));
    Some(Address { space: known.space, base, whole, offsets: offsets.collect::<Option<_>>()?, immediate: known.immediate })
}

mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const CLASS: u16 = 0x02;
    pub const ENUMERATION: u16 = 0x04;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER: u16 = 0x0f;
    pub const REFERENCE: u16 = 0x10;
    pub const STRUCTURE: u16 = 0x13;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION: u16 = 0x17;
    pub const INHERITANCE: u16 = 0x1c;
    pub const BASE: u16 = 0x24;
    pub const CONST: u16 = 0x26;
    pub const SUBPROGRAM: u16 = 0x2e;
    pub const VOLATILE: u16 = 0x35;
    pub const RESTRICT: u16 = 0x37;
    pub const ATOMIC: u16 = 0x47;
}

/// Operands of LLVM's nodes (`DebugInfoMetadata.h`).
mod operand {
    pub const FILE: usize = 0;
    pub const SCOPE: usize = 1;
    pub const NAME: usize = 2;
    pub const OF: usize = 3;
    pub const ELEMENTS: usize = 4;
    pub const VARIABLE_SCOPE: usize = 0;
    pub const VARIABLE_NAME: usize = 1;
    pub const VARIABLE_TYPE: usize = 3;
    pub const FILE_NAME: usize = 0;
    pub const COUNT: usize = 0;
    pub const ENUMERATOR_NAME: usize = 0;
}

/// A statement as one of the functions sees it that it is in: function, scope in it, line; that of the call for functions
/// that were inlined.
type Seen = (u32, u32, u32);

/// An instruction, how it is seen, and the lines of functions of which an instance begins with it.
type Located = (Value, Vec<Seen>, Vec<(u32, u32)>);

impl Described {
    /// Scopes of the instructions of a loop, but for the outermost one, in which the loop may go on or end.
    fn scopes_in(&mut self, all: &mut Variables, blocks: impl Iterator<Item = BlockRef>) -> FxHashSet<u32> {
        let places = blocks.flat_map(|b| b.instructions()).filter_map(debug::location).filter(|p| p.line() > 0);
        let mut scopes: FxHashSet<u32> = places.filter_map(|p| self.scope(all, p.scope(), p.inlined_at())).collect();
        let least = scopes.iter().map(|s| all.chain(*s).len()).min();
        scopes.retain(|s| Some(all.chain(*s).len()) > least);
        scopes
    }

    /// Divides a block into instances of statements: an instance is what stands together of a line, as its function sees it,
    /// calls included, so that each copy of an unrolled loop has its own. Then finds the instructions that LLVM has moved to
    /// where their statements do not begin:
    /// - up: a statement of a line before theirs stands behind them that has come up less often than theirs before them, and
    ///   is not the end of a loop around them (those are in scopes around theirs); or such a one ends the block;
    /// - out of a loop (`left`: those next to the block): their scope is in the loop.
    fn find_statements(&mut self, all: &mut Variables, block: BlockRef, left: &[usize]) {
        self.moved.clear();
        self.instances.clear();
        let mut located: Vec<Located> = Vec::new();
        // The line that each function is at, with its instance; and how often each line has come up.
        let mut current: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut counts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for i in block.instructions().filter(|i| i.opcode() != LLVMOpcode::LLVMPHI) {
            let Some(place) = debug::location(i).filter(|p| p.line() > 0) else { continue };
            let Some(scope) = self.scope(all, place.scope(), place.inlined_at()) else { continue };
            let seen = seen(all, scope, place.line());
            current.retain(|function, _| seen.iter().any(|s| s.0 == *function));
            let mut begun = Vec::new();
            for (function, _, line) in &seen {
                if current.get(function).is_none_or(|(at, _)| at != line) {
                    begun.push((*function, *line));
                    self.last_instance += 1;
                    current.insert(*function, (*line, self.last_instance));
                }
            }
            begun.iter().for_each(|b| *counts.entry(*b).or_default() += 1);
            self.instances.extend(seen.first().map(|s| (i, current[&s.0].1)));
            if left.iter().any(|l| self.inside[*l].contains(&scope)) {
                self.moved.insert(i);
            }
            located.push((i, seen, begun));
        }
        let mut behind: FxHashSet<Seen> = FxHashSet::default();
        let end: Vec<Seen> = located.last().filter(|l| l.0.is_terminator()).map(|l| l.1.clone()).unwrap_or_default();
        for (i, seen, begun) in located.into_iter().rev() {
            let count = |function: u32, line: u32| counts.get(&(function, line)).copied().unwrap_or(0);
            let is_late = |late: &Seen| {
                let (function, other, line) = late;
                let own = seen.iter().find(|s| s.0 == *function);
                own.is_some_and(|(_, scope, at)| {
                    let around = || all.chain(*scope).into_iter().skip(1).take_while(|s| s != function).any(|s| s == *other);
                    line < at
                        && (end.contains(late) || count(*function, *line) < count(*function, *at))
                        && !(scope != other && other == function)
                        && !around()
                })
            };
            if behind.iter().any(is_late) {
                self.moved.insert(i);
            }
            for b in begun {
                counts.entry(b).and_modify(|n| *n = n.saturating_sub(1));
            }
            behind.extend(seen);
        }
    }

    /// The number of a scope; `None` for what is no scope of statements.
    fn scope(&mut self, all: &mut Variables, node: Node, inlined: Option<Node>) -> Option<u32> {
        if let Some(known) = self.scopes.get(&(node, inlined)) {
            return Some(*known);
        }
        let scope = if node.tag() == tag::SUBPROGRAM {
            let parent = inlined.and_then(|call| self.scope(all, call.scope(), call.inlined_at()));
            let file = |place: Node| place.scope().node(operand::FILE).map(|f| f.string(operand::FILE_NAME)).unwrap_or_default();
            let call = inlined.map(|place| (file(place), place.line()));
            Scope { parent, function: Some(node.string(operand::NAME)), call }
        } else {
            let parent = self.scope(all, node.node(operand::SCOPE)?, inlined)?;
            Scope { parent: Some(parent), function: None, call: None }
        };
        all.scopes.push(scope);
        let number = all.scopes.len() as u32 - 1;
        self.scopes.insert((node, inlined), number);
        Some(number)
    }

    fn variable(&mut self, all: &mut Variables, node: Node, inlined: Option<Node>) -> Option<u32> {
        if let Some(known) = self.variables.get(&(node, inlined)) {
            return Some(*known);
        }
        let scope = self.scope(all, node.node(operand::VARIABLE_SCOPE)?, inlined)?;
        let of = self.type_of(all, node.node(operand::VARIABLE_TYPE));
        let parameter = node.field("arg").and_then(|n| n.parse().ok()).unwrap_or(0);
        let name = node.string(operand::VARIABLE_NAME);
        all.variables.push(Variable { name, of, scope, line: node.variable_line(), parameter });
        let number = all.variables.len() as u32 - 1;
        self.variables.insert((node, inlined), number);
        Some(number)
    }

    /// The number of a type.
    fn type_of(&mut self, all: &mut Variables, node: Option<Node>) -> u32 {
        let unknown = |name: String| Type::Unknown { name };
        let Some(node) = node else {
            all.types.push(unknown("void".into()));
            return all.types.len() as u32 - 1;
        };
        if let Some(known) = self.types.get(&node) {
            return *known;
        }
        // Structures may have pointers to themselves.
        all.types.push(unknown(String::new()));
        let number = all.types.len() as u32 - 1;
        self.types.insert(node, number);
        let bytes = (node.bits() / 8) as u32;
        let name = node.string(operand::NAME);
        let described = match node.tag() {
            tag::BASE => Type::Number { name, bytes, encoding: encoding(node) },
            tag::TYPEDEF => Type::Named { name, of: self.type_of(all, node.node(operand::OF)) },
            tag::CONST | tag::VOLATILE | tag::RESTRICT | tag::ATOMIC => {
                Type::Named { name: String::new(), of: self.type_of(all, node.node(operand::OF)) }
            }
            tag::POINTER | tag::REFERENCE => {
                Type::Pointer { to: self.type_of(all, node.node(operand::OF)), space: pointed_space(node) }
            }
            tag::ARRAY => self.array(all, node),
            tag::STRUCTURE | tag::CLASS | tag::UNION => {
                let members = node.node(operand::ELEMENTS).map(Node::nodes).unwrap_or_default();
                let members = members.into_iter().filter(|m| matches!(m.tag(), tag::MEMBER | tag::INHERITANCE));
                let members = members.filter(|m| !m.text().contains("DIFlagStaticMember")).map(|m| {
                    let bits = if m.text().contains("DIFlagBitField") { m.bits() as u32 } else { 0 };
                    let of = self.type_of(all, m.node(operand::OF));
                    Member { name: m.string(operand::NAME), of, offset: m.offset_bits() as u32, bits }
                });
                Type::Structure { name, bytes, members: members.collect() }
            }
            tag::ENUMERATION => {
                let values = node.node(operand::ELEMENTS).map(Node::nodes).unwrap_or_default();
                let value = |e: &Node| {
                    let number = e.field("value").and_then(|v| v.parse().ok());
                    number.map(|v| (e.string(operand::ENUMERATOR_NAME), v))
                };
                Type::Enumeration { name, bytes, values: values.iter().filter_map(value).collect() }
            }
            _ => unknown(name),
        };
        all.types[number as usize] = described;
        number
    }

    /// Arrays of arrays are one node with several ranges.
    fn array(&mut self, all: &mut Variables, node: Node) -> Type {
        let mut of = self.type_of(all, node.node(operand::OF));
        let ranges = node.node(operand::ELEMENTS).map(Node::nodes).unwrap_or_default();
        let counts: Vec<u64> = ranges.iter().map(|r| r.number(operand::COUNT).map_or(0, |n| n.max(0) as u64)).collect();
        let Some((first, inner)) = counts.split_first() else { return Type::Unknown { name: String::new() } };
        if node.text().contains("DIFlagVector") {
            return Type::Vector { of, count: *first as u32 };
        }
        for count in inner.iter().rev() {
            all.types.push(Type::Array { of, count: *count });
            of = all.types.len() as u32 - 1;
        }
        Type::Array { of, count: *first }
    }
}

/// How the functions that a statement is in see it, the innermost first.
fn seen(all: &Variables, scope: u32, line: u32) -> Vec<Seen> {
    let (mut next, mut line, mut result) = (Some(scope), line, Vec::new());
    while let Some(inner) = next {
        let (scopes, outer) = all.function_scopes(inner);
        let Some(function) = scopes.last().copied() else { break };
        result.push((function, inner, line));
        line = all.scopes[function as usize].call.as_ref().map_or(0, |c| c.1);
        next = outer;
    }
    result
}

fn encoding(node: Node) -> Encoding {
    match node.field("encoding").as_deref() {
        Some("DW_ATE_boolean") => Encoding::Boolean,
        Some("DW_ATE_float") => Encoding::Float,
        Some("DW_ATE_signed" | "DW_ATE_signed_char") => Encoding::Signed,
        _ => Encoding::Unsigned,
    }
}

/// The memory that pointers of a type point to, by the address classes that clang writes for this target.
fn pointed_space(node: Node) -> Option<heddle_isa::MemorySpace> {
    match node.field("dwarfAddressSpace").as_deref() {
        Some("5") => Some(heddle_isa::MemorySpace::Global),
        Some("8") => Some(heddle_isa::MemorySpace::Local),
        Some("4") => Some(heddle_isa::MemorySpace::Constant),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let parse = |text: &str| Expression::parse(text).map(|e| (e.steps, e.part, e.address));
        assert_eq!(parse(""), Some((vec![], None, false)));
        let plus = vec![Step::Push(1), Step::Operation(Operation::Plus)];
        assert_eq!(parse("DW_OP_plus_uconst, 1, DW_OP_stack_value"), Some((plus, None, false)));
        assert_eq!(parse("DW_OP_deref, DW_OP_LLVM_fragment, 32, 64"), Some((vec![], Some((32, 64)), true)));
        let convert = |bits, signed| Step::Convert { bits, signed };
        let text = "DW_OP_LLVM_convert, 32, DW_ATE_signed, DW_OP_LLVM_convert, 64, DW_ATE_unsigned, DW_OP_stack_value";
        assert_eq!(parse(text), Some((vec![convert(32, true), convert(64, false)], None, false)));
        // A value behind a pointer is not where the pointer is; other operations have no steps.
        assert_eq!(parse("DW_OP_deref, DW_OP_plus_uconst, 4, DW_OP_stack_value"), None);
        assert_eq!(parse("DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value"), None);
        assert_eq!(parse("DW_OP_entry_value, 1"), None);
    }

    #[test]
    fn signs_need_whole_numbers() {
        let shift = Expression::parse("DW_OP_constu, 2, DW_OP_shra, DW_OP_stack_value").unwrap();
        assert!(shift.suits(8) && !shift.suits(4));
        let sum = Expression::parse("DW_OP_plus_uconst, 2").unwrap();
        assert!(sum.suits(4) && !sum.suits(16));
        assert_eq!(sum.distance(), Some(2));
    }
}
