//! Values of the source: what a variable has for a lane, with its type, in words.

use heddle_isa::{MemorySpace, PhysReg, Space, Special};
use heddle_object::variables::{Address, Encoding, Step, Type, Value as Place, Variables, Word};
use heddle_sim::debug::{Debuggee, WarpState};

use super::layout::{Lane, Layout};

/// What is said of a value that no place has.
pub const GONE: &str = "optimised out";

/// Elements of an array that are shown.
const SHOWN: u64 = 200;
/// Parts of a value that are shown, of all arrays and structures in it together.
const SHOWN_IN_ALL: u64 = 10_000;

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Type, by number.
    pub of: u32,
    /// Bytes; `None` for those that no place has.
    pub bytes: Vec<Option<u8>>,
    /// Where it is in memory, if it is there.
    pub home: Option<(MemorySpace, u64)>,
}

/// A number, for arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer: value, bytes, with a sign.
    Integer(i128, u32, bool),
    /// A float: value, bytes.
    Float(f64, u32),
}

/// A lane at an instruction: whose values are asked for.
pub struct Scene<'a> {
    /// The launch.
    pub target: &'a dyn Debuggee,
    /// The lane.
    pub lane: Lane,
    /// Types of the source, and others that come up.
    pub types: Vec<Type>,
    /// The instruction that the lane executes next.
    index: Option<u32>,
}

/// The instruction that a lane executes next: that of the active lanes, or where it goes on.
fn next_of(state: &WarpState, lane: u32) -> Option<u32> {
    if state.active >> lane & 1 == 1 {
        return Some(state.index);
    }
    state.held.iter().find(|(mask, _)| mask >> lane & 1 == 1).map(|(_, index)| *index)
}

impl<'a> Scene<'a> {
    /// A lane where it is.
    pub fn new(target: &'a dyn Debuggee, lane: Lane) -> Self {
        let types = target.program().header.variables.as_ref().map(|v| v.types.clone()).unwrap_or_default();
        let index = target.warp(lane.warp).and_then(|state| next_of(&state, lane.lane));
        Scene { target, lane, types, index }
    }

    /// What is known of variables.
    pub fn variables(&self) -> Option<&'a Variables> {
        self.target.program().header.variables.as_deref()
    }

    /// The functions that the lane is in, the innermost first, each with the variables that are visible there.
    pub fn frames(&self) -> Vec<(String, Vec<u32>)> {
        let Some((variables, index)) = self.variables().zip(self.index) else { return Vec::new() };
        let mut all = Vec::new();
        let mut scope = variables.scope_at(index);
        while let Some(inner) = scope {
            let (scopes, outer) = variables.function_scopes(inner);
            let function = scopes.last().and_then(|s| variables.scopes[*s as usize].function.clone()).unwrap_or_default();
            all.push((function, self.of_scopes(&scopes)));
            // What a damaged object says may be a circle.
            scope = outer.filter(|_| all.len() <= variables.scopes.len());
        }
        all
    }

    /// Variables of scopes, the first ones first; of a name only the first.
    fn of_scopes(&self, scopes: &[u32]) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let Some(variables) = self.variables() else { return found };
        for scope in scopes {
            for (number, v) in (0u32..).zip(&variables.variables).filter(|(_, v)| v.scope == *scope) {
                let hidden = found.iter().any(|f| variables.variables[*f as usize].name == v.name);
                if !hidden && !v.name.is_empty() {
                    found.push(number);
                }
            }
        }
        found
    }

    /// The variable of a name that is visible here.
    pub fn find(&self, name: &str) -> Option<u32> {
        let variables = self.variables()?;
        let is = |n: &u32| variables.variables[*n as usize].name == name;
        // In the function itself; then in those that it was inlined into.
        self.frames().into_iter().find_map(|(_, all)| all.into_iter().find(is))
    }

    /// The inlined calls that the lane is in, the innermost first: function, and file and line of the call.
    pub fn calls(&self) -> Vec<(String, Option<(String, u32)>)> {
        let Some((variables, index)) = self.variables().zip(self.index) else { return Vec::new() };
        let chain = variables.scope_at(index).map(|s| variables.chain(s)).unwrap_or_default();
        let scopes = chain.into_iter().map(|s| &variables.scopes[s as usize]);
        scopes.filter_map(|s| s.function.clone().map(|f| (f, s.call.clone()))).collect()
    }

    /// A variable's value.
    pub fn value(&self, variable: u32) -> Value {
        let known = self.variables().and_then(|v| Some((v, v.variables.get(variable as usize)?)));
        let Some((variables, described)) = known else { return Value { of: u32::MAX, bytes: Vec::new(), home: None } };
        let size = self.size(described.of) as usize;
        let mut value = Value { of: described.of, bytes: vec![None; size], home: None };
        let Some(index) = self.index else { return value };
        for location in variables.locations_at(variable, index) {
            let (first, count) = location.part.map_or((0, size), |(bit, bits)| (bit as usize / 8, bits.div_ceil(8) as usize));
            let bytes = match &location.value {
                Place::Pieces(pieces, steps) => {
                    let end = pieces.iter().map(|p| p.offset.saturating_add(p.bytes)).max().unwrap_or(0) as usize;
                    let mut bytes = vec![None; end.min(1 << 12)];
                    for piece in pieces {
                        let words: Option<Vec<u32>> = piece.words.iter().map(|w| self.word(*w)).collect();
                        let all = words.unwrap_or_default().into_iter().flat_map(u32::to_le_bytes);
                        let all = all.skip(piece.skipped as usize).take(piece.bytes as usize);
                        let places = bytes.iter_mut().skip(piece.offset as usize);
                        places.zip(all).for_each(|(to, from)| *to = Some(from));
                    }
                    computed(bytes, steps)
                }
                Place::Pointer(address, steps) => {
                    let number = self.address(address);
                    computed(number.map(|n| n.to_le_bytes().map(Some).to_vec()).unwrap_or_default(), steps)
                }
                Place::Memory(address) => match self.address(address) {
                    Some(at) => {
                        if location.part.is_none() {
                            value.home = Some((address.space, at));
                        }
                        let bytes = self.target.read(address.space, (self.lane.warp, self.lane.lane), at, count);
                        bytes.unwrap_or_default().into_iter().map(Some).collect()
                    }
                    None => Vec::new(),
                },
            };
            value.bytes.iter_mut().skip(first).take(count).zip(bytes).for_each(|(to, from)| *to = from);
        }
        value
    }

    fn word(&self, word: Word) -> Option<u32> {
        let Lane { warp, lane } = self.lane;
        let register = |space, index, cluster| self.target.register(warp, lane, PhysReg { space, index }, cluster);
        let memory = |space, address| {
            let bytes = self.target.read(space, (warp, lane), address, 4)?;
            Some(u32::from_le_bytes(bytes.try_into().ok()?))
        };
        match word {
            Word::Main(r) => register(Space::Main, r, 0),
            Word::Local(c, r) => register(Space::Local, r, c),
            Word::Scalar(r) => register(Space::Scalar, r, 0),
            Word::Predicate(r) => register(Space::Predicate, r, 0),
            Word::Slot(address) => memory(MemorySpace::Private, address.into()),
            Word::Constant(c) => memory(MemorySpace::Argument, 4 * u64::from(c)),
            Word::Special(s) => self.target.special(warp, lane, Special::from_repr(s)?),
            Word::Known(v) => Some(v),
        }
    }

    fn address(&self, address: &Address<Word>) -> Option<u64> {
        let words = |all: &[Word]| all.iter().map(|w| self.word(*w)).collect::<Option<Vec<u32>>>();
        let base = words(&address.base)?.iter().rev().fold(0u64, |v, w| v << 32 | u64::from(*w));
        if address.whole {
            return Some(base.wrapping_add_signed(address.immediate.into()));
        }
        let offset = words(&address.offsets)?.into_iter().fold(address.immediate as u32, u32::wrapping_add);
        // The low word wraps; all of an object has one high word.
        Some(base >> 32 << 32 | u64::from((base as u32).wrapping_add(offset)))
    }

    /// A type without its other names.
    pub fn plain(&self, mut of: u32) -> Option<&Type> {
        // What a damaged object says may be a circle.
        for _ in 0..64 {
            match self.types.get(of as usize)? {
                Type::Named { of: next, .. } => of = *next,
                other => return Some(other),
            }
        }
        None
    }

    /// Bytes of a type; vectors of three have room for four.
    pub fn size(&self, of: u32) -> u64 {
        self.size_within(of, 16)
    }

    fn size_within(&self, of: u32, depth: u32) -> u64 {
        if depth == 0 {
            return 0;
        }
        let bytes = match self.plain(of) {
            Some(Type::Number { bytes, .. } | Type::Structure { bytes, .. } | Type::Enumeration { bytes, .. }) => (*bytes).into(),
            Some(Type::Pointer { .. }) => 8,
            Some(Type::Array { of, count }) => self.size_within(*of, depth - 1).saturating_mul(*count),
            Some(Type::Vector { of, count }) => {
                self.size_within(*of, depth - 1).saturating_mul(if *count == 3 { 4 } else { (*count).into() })
            }
            _ => 0,
        };
        bytes.min(1 << 20)
    }

    /// A type as the source spells it.
    pub fn name(&self, of: u32) -> String {
        self.name_within(of, 64)
    }

    fn name_within(&self, of: u32, depth: u32) -> String {
        // What a damaged object says may be a circle.
        let Some(depth) = depth.checked_sub(1) else { return "…".into() };
        match self.types.get(of as usize) {
            Some(Type::Named { name, of }) if name.is_empty() => self.name_within(*of, depth),
            Some(Type::Number { name, .. } | Type::Named { name, .. } | Type::Unknown { name }) => name.clone(),
            Some(Type::Structure { name, .. } | Type::Enumeration { name, .. }) => name.clone(),
            Some(Type::Pointer { to, .. }) => format!("{} *", self.name_within(*to, depth)),
            Some(Type::Array { of, count }) => format!("{}[{count}]", self.name_within(*of, depth)),
            Some(Type::Vector { of, count }) => format!("{}{count}", self.name_within(*of, depth)),
            None => String::new(),
        }
    }

    /// How numbers of a type lie in memory; `None` for other types.
    pub fn layout(&self, of: u32) -> Option<Layout> {
        match self.plain(of)? {
            Type::Number { encoding, bytes, .. } => Layout::of(*encoding, *bytes as usize, 1),
            Type::Vector { of, count } => match self.plain(*of)? {
                Type::Number { encoding, bytes, .. } => Layout::of(*encoding, *bytes as usize, *count as usize),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds a type.
    pub fn add(&mut self, of: Type) -> u32 {
        let known = self.types.iter().position(|t| *t == of);
        known.unwrap_or_else(|| {
            self.types.push(of);
            self.types.len() - 1
        }) as u32
    }

    /// The type of numbers of some bytes.
    pub fn number_type(&mut self, encoding: Encoding, bytes: u32) -> u32 {
        let name = match (encoding, bytes) {
            (Encoding::Boolean, _) => "bool",
            (Encoding::Float, 2) => "half",
            (Encoding::Float, 4) => "float",
            (Encoding::Float, _) => "double",
            (Encoding::Signed, 1) => "char",
            (Encoding::Signed, 2) => "short",
            (Encoding::Signed, 4) => "int",
            (Encoding::Signed, _) => "long",
            (Encoding::Unsigned, 1) => "uchar",
            (Encoding::Unsigned, 2) => "ushort",
            (Encoding::Unsigned, 4) => "uint",
            (Encoding::Unsigned, _) => "ulong",
        };
        self.add(Type::Number { name: name.into(), bytes, encoding })
    }

    /// A value as a number.
    ///
    /// # Errors
    /// It is none, or no place has it, as a sentence.
    pub fn number(&self, value: &Value) -> Result<Number, String> {
        let whole: Option<Vec<u8>> = value.bytes.iter().copied().collect();
        let bytes = whole.filter(|b| !b.is_empty() && b.len() <= 8).ok_or_else(|| match value.bytes.contains(&None) {
            true => GONE.to_string(),
            false => format!("a value of the type `{}` is no number", self.name(value.of)),
        })?;
        let raw = bytes.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
        let n = bytes.len() as u32;
        let signed = (raw << (64 - 8 * n)) as i64 >> (64 - 8 * n);
        Ok(match self.plain(value.of) {
            Some(Type::Number { encoding: Encoding::Float, .. }) => Number::Float(
                match n {
                    2 => half::f16::from_bits(raw as u16).into(),
                    4 => f32::from_bits(raw as u32).into(),
                    _ => f64::from_bits(raw),
                },
                n,
            ),
            Some(Type::Number { encoding: Encoding::Boolean, .. }) => Number::Integer(i128::from(raw & 1), n, false),
            Some(Type::Number { encoding: Encoding::Signed, .. } | Type::Enumeration { .. }) => {
                Number::Integer(signed.into(), n, true)
            }
            Some(Type::Number { .. } | Type::Pointer { .. }) => Number::Integer(raw.into(), n, false),
            _ => return Err(format!("a value of the type `{}` is no number", self.name(value.of))),
        })
    }

    /// A value in words: `1.5`, `(1, 2, 3)`, `{x = 1, k = {1, 2}}`.
    pub fn text(&self, value: &Value) -> String {
        if value.bytes.iter().all(Option::is_none) {
            return GONE.into();
        }
        self.text_of(value.of, &value.bytes, 8, &mut { SHOWN_IN_ALL })
    }

    /// The text of a value, of which parts that are `depth` deep or come behind so many others, `left`, are left out.
    fn text_of(&self, of: u32, bytes: &[Option<u8>], depth: u32, left: &mut u64) -> String {
        if depth == 0 || *left == 0 {
            return "…".into();
        }
        *left -= 1;
        match self.plain(of) {
            Some(Type::Array { of, count }) => {
                let all = self.elements(*of, (*count).min(SHOWN), bytes, depth - 1, left);
                format!("{{{all}{}}}", if *count > SHOWN { ", …" } else { "" })
            }
            Some(Type::Vector { of, count }) => {
                format!("({})", self.elements(*of, (*count).into(), bytes, depth - 1, left))
            }
            Some(Type::Structure { members, .. }) => {
                let whole = Value { of, bytes: bytes.to_vec(), home: None };
                let mut all = Vec::new();
                for m in members {
                    if *left == 0 {
                        all.push("…".into());
                        break;
                    }
                    let value = self.member(&whole, m);
                    let text = self.text_of(value.of, &value.bytes, depth - 1, left);
                    all.push(if m.name.is_empty() { text } else { format!("{} = {text}", m.name) });
                }
                format!("{{{}}}", all.join(", "))
            }
            plain => self.scalar_text(plain, Value { of, bytes: bytes.to_vec(), home: None }),
        }
    }

    /// The texts of elements of a type, one after the other.
    fn elements(&self, of: u32, count: u64, bytes: &[Option<u8>], depth: u32, left: &mut u64) -> String {
        let size = self.size(of);
        let mut all = Vec::new();
        for i in 0..count {
            if *left == 0 {
                all.push("…".into());
                break;
            }
            let at = i.saturating_mul(size);
            let part = bytes.get(at as usize..at.saturating_add(size) as usize).unwrap_or_default();
            all.push(self.text_of(of, part, depth, left));
        }
        all.join(", ")
    }

    /// The text of a value that has no parts.
    fn scalar_text(&self, plain: Option<&Type>, value: Value) -> String {
        match (self.number(&value), plain) {
            (Err(_), _) if value.bytes.contains(&None) || value.bytes.is_empty() => format!("<{GONE}>"),
            (Err(message), _) => message,
            (Ok(Number::Integer(n, ..)), Some(Type::Pointer { .. })) => format!("{n:#x}"),
            (Ok(Number::Integer(n, ..)), Some(Type::Number { encoding: Encoding::Boolean, .. })) => (n != 0).to_string(),
            (Ok(Number::Integer(n, ..)), Some(Type::Enumeration { values, .. })) => {
                let name = values.iter().find(|(_, v)| i128::from(*v) == n);
                name.map_or_else(|| n.to_string(), |(name, _)| name.clone())
            }
            (Ok(number), _) => number.to_string(),
        }
    }

    /// A member of a structure's value.
    pub fn member(&self, value: &Value, member: &heddle_object::variables::Member) -> Value {
        let (first, size) = (member.offset / 8, self.size(member.of));
        let home = value.home.map(|(space, at)| (space, at.wrapping_add(first.into())));
        let part = |from: u64, n: u64| {
            let bytes = value.bytes.get(from as usize..(from.saturating_add(n)).min(value.bytes.len() as u64) as usize);
            bytes.map(<[_]>::to_vec).unwrap_or_default()
        };
        if member.bits == 0 {
            return Value { of: member.of, bytes: part(first.into(), size), home };
        }
        // A bit field: its bits, extended as its type says.
        let bits = member.bits.min(64);
        let whole: Option<Vec<u8>> =
            part(first.into(), 9).into_iter().take((member.offset % 8 + bits).div_ceil(8) as usize).collect();
        let signed = matches!(self.plain(member.of), Some(Type::Number { encoding: Encoding::Signed, .. }));
        let bytes = whole.map(|b| {
            let raw = b.iter().rev().fold(0u128, |v, b| v << 8 | u128::from(*b)) >> (member.offset % 8);
            let up = 128 - bits;
            let bits = if signed { (raw << up) as i128 >> up } else { (raw << up >> up) as i128 };
            bits.to_le_bytes()[..(size as usize).min(16)].iter().map(|b| Some(*b)).collect()
        });
        Value { of: member.of, bytes: bytes.unwrap_or_else(|| vec![None; size as usize]), home: None }
    }

    /// What is in memory there.
    ///
    /// # Errors
    /// It lies outside, as a sentence.
    pub fn at(&self, of: u32, space: MemorySpace, address: u64) -> Result<Value, String> {
        let bytes = self.target.read(space, (self.lane.warp, self.lane.lane), address, self.size(of) as usize);
        let bytes = bytes.ok_or_else(|| format!("{address:#x} lies outside {space} memory"))?;
        Ok(Value { of, bytes: bytes.into_iter().map(Some).collect(), home: Some((space, address)) })
    }
}

/// What the steps of an expression make of bytes.
fn computed(bytes: Vec<Option<u8>>, steps: &[Step]) -> Vec<Option<u8>> {
    if steps.is_empty() {
        return bytes;
    }
    let whole: Option<Vec<u8>> = bytes.into_iter().take(8).collect();
    let start = whole.filter(|b| !b.is_empty()).map(|b| b.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)));
    let result = start.and_then(|s| Step::execute(steps, s));
    result.map(|n| n.to_le_bytes().map(Some).to_vec()).unwrap_or_default()
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match *self {
            Number::Integer(n, ..) => write!(f, "{n}"),
            Number::Float(x, 4) => write!(f, "{}", x as f32),
            Number::Float(x, 2) => write!(f, "{}", half::f16::from_f64(x)),
            Number::Float(x, _) => write!(f, "{x}"),
        }
    }
}

impl Layout {
    /// The same as a type of the source.
    pub fn as_type(self, scene: &mut Scene) -> u32 {
        let (encoding, bytes, components) = self.parts();
        let of = scene.number_type(encoding, bytes as u32);
        if components == 1 { of } else { scene.add(Type::Vector { of, count: components as u32 }) }
    }
}
