//! Variables of the source in a kernel's code: names, types and scopes, and where each one's value is while which
//! instructions are next.
//!
//! The contents are those of DWARF's `DW_TAG_variable` entries with location lists (DWARF 5, sections 2.6 and 4), in the
//! words of this machine: a value is made of 32-bit words, each in a register of a file, in a spill slot, in the
//! constant bank, or known. What no location covers is not there: the compiler has no place for it.

use std::collections::BTreeMap;
use std::fmt;

use heddle_isa::{MemorySpace, Special};
use serde::{Deserialize, Serialize};

/// The variables of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    /// Types, which name each other by number.
    pub types: Vec<Type>,
    /// Scopes. The first one is the kernel's own.
    pub scopes: Vec<Scope>,
    /// Variables and parameters.
    pub variables: Vec<Variable>,
    /// The scope of each instruction that has one: first instruction, number of instructions, scope; in order.
    pub places: Vec<(u32, u32, u32)>,
    /// Instructions with which statements begin, in order: in each copy of an unrolled loop one, and none where an
    /// instruction was moved to where its statement does not begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begins: Vec<u32>,
    /// Where values are.
    pub locations: Vec<Location>,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Type {
    /// Nothing, or what the compiler does not say more of.
    Unknown {
        /// Name, if it has one.
        name: String,
    },
    /// A number.
    Number {
        /// As the source spells it.
        name: String,
        /// Size.
        bytes: u32,
        /// How bits are read.
        encoding: Encoding,
    },
    /// Another name.
    Named {
        /// The name.
        name: String,
        /// The type.
        of: u32,
    },
    /// A pointer.
    Pointer {
        /// What it points to.
        to: u32,
        /// The memory, if the type says so.
        space: Option<MemorySpace>,
    },
    /// An array.
    Array {
        /// Elements.
        of: u32,
        /// How many; of the first dimension that is left.
        count: u64,
    },
    /// A vector of OpenCL C.
    Vector {
        /// Components.
        of: u32,
        /// How many.
        count: u32,
    },
    /// A structure or union.
    Structure {
        /// Name; empty if it has none.
        name: String,
        /// Size.
        bytes: u32,
        /// Members in order.
        members: Vec<Member>,
    },
    /// An enumeration.
    Enumeration {
        /// Name; empty if it has none.
        name: String,
        /// Size.
        bytes: u32,
        /// Names of values.
        values: Vec<(String, i64)>,
    },
}

/// How the bits of a number are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// True or false.
    Boolean,
    /// Two's complement.
    Signed,
    /// Without a sign.
    Unsigned,
    /// IEEE 754.
    Float,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Name; empty for an unnamed structure, whose members count as the outer one's.
    pub name: String,
    /// Its type.
    pub of: u32,
    /// First bit.
    pub offset: u32,
    /// Bits, of bit fields; 0 otherwise.
    #[serde(default)]
    pub bits: u32,
}

/// A scope of names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The scope around it. For a function that was inlined that of its call.
    pub parent: Option<u32>,
    /// The function whose outermost scope it is.
    pub function: Option<String>,
    /// File and line of the call, if the function was inlined.
    pub call: Option<(String, u32)>,
}

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Type.
    pub of: u32,
    /// Scope.
    pub scope: u32,
    /// Line of its declaration.
    pub line: u32,
    /// Number of the parameter from 1; 0 for variables.
    #[serde(default)]
    pub parameter: u32,
}

/// Where a value is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Variable.
    pub variable: u32,
    /// First instruction of the kernel before which it holds.
    pub first: u32,
    /// How many in a row.
    pub count: u32,
    /// Of a part of the variable: first bit and number of bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(u32, u32)>,
    /// The value.
    pub value: Value<Word>,
}

/// A value whose words are `W`: operands while code is generated, [`Word`]s in an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value<W> {
    /// Bytes from words, on which an expression works.
    Pieces(Vec<Piece<W>>, Vec<Step>),
    /// A pointer that is not in registers as such, on which an expression works.
    Pointer(Address<W>, Vec<Step>),
    /// It is in memory.
    Memory(Address<W>),
}

/// Some bytes of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece<W> {
    /// Byte of the value.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// Bytes of the words below the first that counts.
    #[serde(default)]
    pub skipped: u32,
    /// Words, the lowest first.
    pub words: Vec<W>,
}

/// An address: base, to whose low word the sum of offsets and immediate is added modulo 2³²; or, for a whole pointer,
/// `base + sext(immediate)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address<W> {
    /// The memory.
    pub space: MemorySpace,
    /// Words of a base: none or two.
    pub base: Vec<W>,
    /// The base is a whole pointer.
    #[serde(default)]
    pub whole: bool,
    /// Words that are added up.
    pub offsets: Vec<W>,
    /// Added to them.
    pub immediate: i32,
}

/// A step of an expression over a stack of 64-bit numbers (DWARF 5, 2.5.1), on which the value lies at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Pushes a number.
    Push(u64),
    /// Two numbers become one.
    Operation(Operation),
    /// The top becomes its negation.
    Negate,
    /// The top becomes its complement.
    Not,
    /// The top keeps so many bits, and is extended from them.
    Convert {
        /// Bits.
        bits: u32,
        /// With the sign.
        signed: bool,
    },
}

/// What two numbers of an expression become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// Sum.
    Plus,
    /// Difference.
    Minus,
    /// Product.
    Mul,
    /// Signed quotient.
    Div,
    /// Unsigned remainder.
    Mod,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of one.
    Xor,
    /// Shift left.
    Shl,
    /// Shift right.
    Shr,
    /// Shift right with the sign.
    Shra,
}

/// A variable by its number, and of a part of it the first bit and number of bits, as in a [`Location`].
pub type Part = (u32, Option<(u32, u32)>);

impl Step {
    /// Executes steps on a number; `None` if they do not leave one.
    pub fn execute(steps: &[Step], start: u64) -> Option<u64> {
        let mut stack = vec![start];
        for step in steps {
            let top = stack.pop()?;
            match *step {
                Step::Push(n) => stack.extend([top, n]),
                Step::Negate => stack.push(top.wrapping_neg()),
                Step::Not => stack.push(!top),
                Step::Convert { bits: bits @ 1..=64, signed } => {
                    let up = top << (64 - bits);
                    stack.push(if signed { (up as i64 >> (64 - bits)) as u64 } else { up >> (64 - bits) });
                }
                Step::Convert { .. } => return None,
                Step::Operation(operation) => {
                    let below = stack.pop()?;
                    stack.push(operation.apply(below, top)?);
                }
            }
        }
        match stack[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

impl Operation {
    fn apply(self, a: u64, b: u64) -> Option<u64> {
        Some(match self {
            Operation::Plus => a.wrapping_add(b),
            Operation::Minus => a.wrapping_sub(b),
            Operation::Mul => a.wrapping_mul(b),
            Operation::Div => (a as i64).checked_div(b as i64)? as u64,
            Operation::Mod => a.checked_rem(b)?,
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
            Operation::Shl => a.checked_shl(b.try_into().ok()?)?,
            Operation::Shr => a.checked_shr(b.try_into().ok()?)?,
            Operation::Shra => (a as i64).checked_shr(b.try_into().ok()?)? as u64,
        })
    }
}

/// Where 32 bits of a lane are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// A main register.
    Main(u8),
    /// A local register of a cluster: cluster, register.
    Local(u8, u8),
    /// A scalar register.
    Scalar(u8),
    /// A predicate: 0 or 1.
    Predicate(u8),
    /// A word of private memory, by byte address.
    Slot(u32),
    /// A word of the constant bank, by number.
    Constant(u8),
    /// A special register, by its number in the encoding.
    Special(u8),
    /// The word itself.
    Known(u32),
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Word::Main(r) => write!(f, "m{r}"),
            Word::Local(c, r) => write!(f, "c{c}.l{r}"),
            Word::Scalar(r) => write!(f, "s{r}"),
            Word::Predicate(r) => write!(f, "p{r}"),
            Word::Slot(address) => write!(f, "private[{address}]"),
            Word::Constant(c) => write!(f, "c[{:#x}]", 4 * u32::from(c)),
            Word::Special(s) => match Special::from_repr(s) {
                Some(special) => write!(f, "{special}"),
                None => write!(f, "special {s}"),
            },
            Word::Known(v) => write!(f, "{v}"),
        }
    }
}

impl<W: fmt::Display> fmt::Display for Value<W> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let words = self.words().into_iter().map(W::to_string).collect::<Vec<_>>().join(":");
        match self {
            Value::Pieces(_, steps) if steps.is_empty() => write!(f, "{words}"),
            Value::Pieces(..) => write!(f, "from {words}"),
            Value::Pointer(a, _) => write!(f, "{words} + {}", a.immediate),
            Value::Memory(a) => write!(f, "{}[{words}{}{}]", a.space, if words.is_empty() { "" } else { " + " }, a.immediate),
        }
    }
}

impl<W> Value<W> {
    /// All words.
    pub fn words(&self) -> Vec<&W> {
        match self {
            Value::Pieces(pieces, _) => pieces.iter().flat_map(|p| &p.words).collect(),
            Value::Pointer(a, _) | Value::Memory(a) => a.base.iter().chain(&a.offsets).collect(),
        }
    }

    /// The same value of other words; `None` if one is nowhere.
    pub fn map<V>(&self, mut f: impl FnMut(&W) -> Option<V>) -> Option<Value<V>> {
        let mut all = |words: &[W]| words.iter().map(&mut f).collect::<Option<Vec<V>>>();
        let mut address = |a: &Address<W>| {
            let (base, offsets) = (all(&a.base)?, all(&a.offsets)?);
            Some(Address { space: a.space, base, whole: a.whole, offsets, immediate: a.immediate })
        };
        Some(match self {
            Value::Pointer(a, steps) => Value::Pointer(address(a)?, steps.clone()),
            Value::Memory(a) => Value::Memory(address(a)?),
            Value::Pieces(pieces, steps) => {
                let piece =
                    |p: &Piece<W>| Some(Piece { words: all(&p.words)?, offset: p.offset, bytes: p.bytes, skipped: p.skipped });
                Value::Pieces(pieces.iter().map(piece).collect::<Option<_>>()?, steps.clone())
            }
        })
    }
}

impl Variables {
    /// What is named by a number that nothing has, or, of scopes, that comes behind: `type`, `scope` or `variable`.
    pub fn unresolved(&self) -> Option<&'static str> {
        let is_type = |of: &u32| (*of as usize) < self.types.len();
        let is_scope = |scope: &u32| (*scope as usize) < self.scopes.len();
        let types_known = self.types.iter().all(|t| match t {
            Type::Unknown { .. } | Type::Number { .. } | Type::Enumeration { .. } => true,
            Type::Named { of, .. } | Type::Pointer { to: of, .. } | Type::Array { of, .. } | Type::Vector { of, .. } => {
                is_type(of)
            }
            Type::Structure { members, .. } => members.iter().all(|m| is_type(&m.of)),
        });
        let scopes_known = (0u32..).zip(&self.scopes).all(|(number, s)| s.parent.is_none_or(|parent| parent < number));
        if !types_known || !self.variables.iter().all(|v| is_type(&v.of)) {
            return Some("type");
        }
        if !scopes_known || !self.variables.iter().all(|v| is_scope(&v.scope)) || !self.places.iter().all(|p| is_scope(&p.2)) {
            return Some("scope");
        }
        let known = |l: &Location| (l.variable as usize) < self.variables.len();
        (!self.locations.iter().all(known)).then_some("variable")
    }

    /// The scope of an instruction.
    pub fn scope_at(&self, index: u32) -> Option<u32> {
        let after = self.places.partition_point(|p| p.0 <= index);
        let (first, count, scope) = *self.places.get(after.checked_sub(1)?)?;
        (index - first < count).then_some(scope)
    }

    /// Whether a statement begins with an instruction.
    pub fn is_begin(&self, index: u32) -> bool {
        self.begins.binary_search(&index).is_ok()
    }

    /// A scope and those around it, the innermost first.
    pub fn chain(&self, scope: u32) -> Vec<u32> {
        let mut all = vec![];
        let mut next = Some(scope);
        while let Some((number, s)) = next.and_then(|n| Some((n, self.scopes.get(n as usize)?))) {
            // What a damaged object says may be a circle.
            if all.len() > self.scopes.len() {
                break;
            }
            all.push(number);
            next = s.parent;
        }
        all
    }

    /// The scopes of the function that an instruction belongs to, inlined or the kernel, the innermost first, and the scope
    /// of its call.
    pub fn function_scopes(&self, scope: u32) -> (Vec<u32>, Option<u32>) {
        let mut all = Vec::new();
        for number in self.chain(scope) {
            all.push(number);
            let s = &self.scopes[number as usize];
            if s.function.is_some() {
                return (all, s.parent);
            }
        }
        (all, None)
    }

    /// Where the parts of a variable are before an instruction: empty if nowhere.
    pub fn locations_at(&self, variable: u32, index: u32) -> Vec<&Location> {
        let here = |l: &&Location| l.variable == variable && l.first <= index && index - l.first < l.count;
        self.locations.iter().filter(here).collect()
    }

    /// Makes places of the scope of each instruction.
    pub fn set_places(&mut self, scopes: &[Option<u32>]) {
        self.places.clear();
        for (index, scope) in (0u32..).zip(scopes) {
            match (self.places.last_mut(), scope) {
                (Some((first, count, last)), Some(scope)) if last == scope && *first + *count == index => *count += 1,
                (_, Some(scope)) => self.places.push((index, 1, *scope)),
                (_, None) => {}
            }
        }
    }

    /// Makes locations of what holds before each instruction: of each variable's part the value.
    pub fn set_locations(&mut self, held: &[BTreeMap<Part, Value<Word>>]) {
        let mut open: BTreeMap<Part, Location> = BTreeMap::new();
        self.locations.clear();
        for (index, held) in (0u32..).zip(held) {
            let ended: Vec<_> = open.iter().filter(|(k, l)| held.get(k) != Some(&l.value)).map(|(k, _)| *k).collect();
            for key in ended {
                self.locations.extend(open.remove(&key));
            }
            for (key, value) in held {
                let new = || Location { variable: key.0, first: index, count: 0, part: key.1, value: value.clone() };
                open.entry(*key).or_insert_with(new).count += 1;
            }
        }
        self.locations.extend(open.into_values());
        self.locations.sort_by_key(|l| (l.variable, l.first, l.part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_work_on_a_stack() {
        let steps = [Step::Push(3), Step::Operation(Operation::Plus), Step::Convert { bits: 8, signed: true }, Step::Negate];
        assert_eq!(Step::execute(&steps, 0x7e), Some(127));
        assert_eq!(Step::execute(&[Step::Push(0), Step::Operation(Operation::Div)], 1), None);
        assert_eq!(Step::execute(&[Step::Push(1)], 1), None);
        assert_eq!(Step::execute(&[Step::Operation(Operation::Plus)], 1), None);
        assert_eq!(Step::execute(&[Step::Push(64), Step::Operation(Operation::Shl)], 1), None);
    }

    #[test]
    fn locations_are_runs_of_instructions() {
        let at = |r: u8| Value::Pieces(vec![Piece { offset: 0, bytes: 4, skipped: 0, words: vec![Word::Main(r)] }], Vec::new());
        let key = (0, None);
        let held = [vec![], vec![(key, at(1))], vec![(key, at(1))], vec![(key, at(2))], vec![], vec![(key, at(2))]];
        let held: Vec<BTreeMap<_, _>> = held.into_iter().map(|h| h.into_iter().collect()).collect();
        let mut variables = Variables::default();
        variables.set_locations(&held);
        let runs: Vec<_> = variables.locations.iter().map(|l| (l.first, l.count, l.value.clone())).collect();
        assert_eq!(runs, [(1, 2, at(1)), (3, 1, at(2)), (5, 1, at(2))]);
        assert!(variables.locations_at(0, 4).is_empty());
        assert_eq!(variables.locations_at(0, 3).len(), 1);
    }

    #[test]
    fn numbers_that_nothing_has_are_found() {
        let pointer = |to| Type::Pointer { to, space: None };
        let scope = |parent| Scope { parent, function: None, call: None };
        let variable = |of, scope| Variable { name: "v".into(), of, scope, line: 1, parameter: 0 };
        let good = Variables {
            types: vec![pointer(0)],
            scopes: vec![scope(None), scope(Some(0))],
            variables: vec![variable(0, 1)],
            places: vec![(0, 1, 1)],
            ..Default::default()
        };
        assert_eq!(good.unresolved(), None);
        assert_eq!(Variables { types: vec![pointer(1)], ..good.clone() }.unresolved(), Some("type"));
        assert_eq!(Variables { variables: vec![variable(1, 0)], ..good.clone() }.unresolved(), Some("type"));
        assert_eq!(Variables { variables: vec![variable(0, 2)], ..good.clone() }.unresolved(), Some("scope"));
        assert_eq!(Variables { scopes: vec![scope(None), scope(Some(1))], ..good.clone() }.unresolved(), Some("scope"));
        assert_eq!(Variables { places: vec![(0, 1, 2)], ..good.clone() }.unresolved(), Some("scope"));
        let value = Value::Pieces(Vec::new(), Vec::new());
        let location = Location { variable: 1, first: 0, count: 1, part: None, value };
        assert_eq!(Variables { locations: vec![location], ..good }.unresolved(), Some("variable"));
    }

    #[test]
    fn an_inlined_function_ends_where_its_call_is() {
        let scope = |parent, function: Option<&str>| Scope { parent, function: function.map(str::to_string), call: None };
        let scopes = vec![scope(None, Some("k")), scope(Some(0), None), scope(Some(1), Some("f")), scope(Some(2), None)];
        let variables = Variables { scopes, places: vec![(2, 3, 3)], ..Default::default() };
        assert_eq!(variables.scope_at(1), None);
        assert_eq!(variables.scope_at(4), Some(3));
        assert_eq!(variables.scope_at(5), None);
        assert_eq!(variables.function_scopes(3), (vec![3, 2], Some(1)));
        assert_eq!(variables.function_scopes(1), (vec![1, 0], None));
        let circle = Variables { scopes: vec![scope(Some(0), None)], ..Default::default() };
        assert!(circle.chain(0).len() < 4);
    }
}
