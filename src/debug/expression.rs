//! Expressions of C over what a lane has: variables of the source, places ([`super::place`]), numbers.
//!
//! Operator precedence is C's (ISO C, 6.5), by precedence climbing; arithmetic is that of OpenCL C's scalars: integers of at
//! least 32 bits wrap, floats are rounded to their type. Nothing is changed: there are no assignments and no calls.

use heddle_isa::MemorySpace;
use heddle_object::variables::{Encoding, Type};
use heddle_sim::debug::Debuggee;

use super::layout::{Lane, Layout};
use super::place::{Place, number};
use super::value::{Number, Scene, Value};

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(Number),
    /// A variable of the source by name.
    Variable(String),
    Place(Place),
    /// An id, and the same words as a member of a variable of that name, which they are where the variable has members.
    Id(Place, Box<Node>),
    Unary(char, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Member(Box<Node>, String),
    Element(Box<Node>, Box<Node>),
    /// To a type of numbers, or a pointer to one.
    Cast(Layout, bool, Box<Node>),
}

/// Binary operators by precedence, the weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Signs, longer ones first.
const SIGNS: [&str; 27] = [
    "->", "||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]",
    ".", "!", "~", "?",
];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(Number),
    Name(String),
    Sign(&'static str),
}

/// Tokens of an expression at most: what stands side by side (`1 + 1 + 1 …`) nests as well, once it is parsed.
const LONGEST: usize = 1000;

/// Tokens, each with the byte at which it ends.
fn tokens(text: &str) -> Result<Vec<(Token, usize)>, String> {
    let mut result = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if result.len() > LONGEST {
            return Err(format!("the expression is too long: it may have {LONGEST} numbers, names and signs"));
        }
        let rest = &text[at..];
        let is_digit = |c: char| c.is_ascii_digit();
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let token = if is_digit(c) || c == '.' && rest[1..].starts_with(is_digit) {
            let exponent = |i: usize| matches!(rest.as_bytes()[i - 1], b'e' | b'E') && !rest.starts_with("0x");
            let more =
                |(i, c): (usize, char)| c.is_ascii_alphanumeric() || c == '.' || matches!(c, '+' | '-') && i > 0 && exponent(i);
            let end = rest.char_indices().find(|p| !more(*p)).map_or(rest.len(), |(i, _)| i);
            at += end;
            Token::Number(literal(&rest[..end]).ok_or_else(|| format!("`{}` is no number", &rest[..end]))?)
        } else if c.is_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            at += end;
            Token::Name(rest[..end].to_string())
        } else if c == ':' {
            at += 1;
            Token::Sign(":")
        } else {
            let sign = SIGNS.iter().find(|s| rest.starts_with(**s)).ok_or_else(|| format!("`{c}` is not understood"))?;
            at += sign.len();
            Token::Sign(sign)
        };
        result.push((token, at));
    }
    Ok(result)
}

/// A number of C: `3`, `0x10u`, `017`, `1.5f`, `1e-3`. An integer has the first type that holds it of those that C tries
/// (ISO C, 6.4.4.1): unsigned ones only with `u`, or if it is not decimal.
fn literal(text: &str) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    if !hexadecimal && lower.contains(['.', 'e', 'f', 'h']) {
        let (digits, bytes) = match lower.strip_suffix(['f', 'h']) {
            Some(digits) => (digits, 4),
            None => (lower.as_str(), 8),
        };
        return Some(Number::Float(digits.parse().ok()?, bytes));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let octal = !hexadecimal && digits.len() > 1 && digits.starts_with('0');
    let value = if octal { u64::from_str_radix(digits, 8).ok()? } else { number(digits)? };
    let unsigned = suffix.contains('u');
    let types = [(4, true, i32::MAX as u64), (4, false, u32::MAX.into()), (8, true, i64::MAX as u64), (8, false, u64::MAX)];
    let wanted = |bytes: u32, signed: bool, most: u64| {
        let tried = if signed { !unsigned } else { unsigned || hexadecimal || octal || most == u64::MAX };
        tried && (bytes == 8 || !suffix.contains('l'))
    };
    let (bytes, signed, _) = types.into_iter().find(|(bytes, signed, most)| value <= *most && wanted(*bytes, *signed, *most))?;
    Some(Number::Integer(value.into(), bytes, signed))
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, usize)>,
    at: usize,
    target: &'a dyn Debuggee,
}

impl Expression {
    /// Understands an expression: `sum / n`, `p->x > 3 && gid.x == 5`, `a[3]`, `m3`.
    ///
    /// # Errors
    /// What is not understood, as a sentence.
    pub fn parse(text: &str, target: &dyn Debuggee) -> Result<Expression, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("write an expression".into());
        }
        let mut parser = Parser { text, tokens: tokens(text)?, at: 0, target };
        let root = parser.choice(0)?;
        match parser.tokens.get(parser.at) {
            None => Ok(Expression { text: text.to_string(), root }),
            Some((token, _)) => Err(format!("`{}` is not understood behind an expression", parser.word(token))),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The place that it is, if it is no more than one.
    pub fn place(&self) -> Option<&Place> {
        match &self.root {
            Node::Place(place) => Some(place),
            _ => None,
        }
    }

    /// Its value for a lane.
    ///
    /// # Errors
    /// It has none there, as a sentence.
    pub fn value(&self, scene: &mut Scene) -> Result<Value, String> {
        evaluate(&self.root, scene)
    }

    /// Its value for a lane in words.
    ///
    /// # Errors
    /// It has none there, as a sentence.
    pub fn words(&self, target: &dyn Debuggee, lane: Lane) -> Result<String, String> {
        if let Node::Place(place) = &self.root {
            return place.value(target, lane);
        }
        let mut scene = Scene::new(target, lane);
        let value = self.value(&mut scene)?;
        Ok(scene.text(&value))
    }

    /// Whether it is not zero for a lane; not if it has no value there.
    pub fn holds(&self, target: &dyn Debuggee, lane: Lane) -> bool {
        let mut scene = Scene::new(target, lane);
        self.value(&mut scene).and_then(|v| scene.number(&v)).is_ok_and(is_true)
    }
}

/// Deepest nesting of an expression.
const DEEPEST: u32 = 100;

impl Parser<'_> {
    fn word(&self, token: &Token) -> String {
        match token {
            Token::Number(n) => n.to_string(),
            Token::Name(n) => n.clone(),
            Token::Sign(s) => (*s).to_string(),
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((Token::Sign(s), _)) if *s == sign);
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, sign: &str) -> Result<(), String> {
        if self.takes(sign) { Ok(()) } else { Err(format!("`{sign}` is missing in `{}`", self.text)) }
    }

    fn choice(&mut self, depth: u32) -> Result<Node, String> {
        let condition = self.binary(0, depth)?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let yes = self.choice(depth + 1)?;
        self.needs(":")?;
        Ok(Node::Choice(Box::new(condition), Box::new(yes), Box::new(self.choice(depth + 1)?)))
    }

    fn binary(&mut self, level: usize, depth: u32) -> Result<Node, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary(depth) };
        let mut left = self.binary(level + 1, depth)?;
        while let Some(sign) = signs.iter().find(|s| self.takes(s)) {
            left = Node::Binary(sign, Box::new(left), Box::new(self.binary(level + 1, depth)?));
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err("the expression is nested too deeply".into());
        }
        for sign in ["-", "!", "~", "*", "&", "+"] {
            if self.takes(sign) {
                let inner = Box::new(self.unary(depth + 1)?);
                return Ok(Node::Unary(sign.chars().next().unwrap_or('+'), inner));
            }
        }
        if let Some((layout, pointer)) = self.cast() {
            return Ok(Node::Cast(layout, pointer, Box::new(self.unary(depth + 1)?)));
        }
        let mut node = self.primary(depth)?;
        loop {
            if self.takes("[") {
                let index = self.choice(depth + 1)?;
                self.needs("]")?;
                node = Node::Element(Box::new(node), Box::new(index));
            } else if self.takes("->") {
                node = Node::Member(Box::new(Node::Unary('*', Box::new(node))), self.name()?);
            } else if self.takes(".") {
                node = Node::Member(Box::new(node), self.name()?);
            } else {
                return Ok(node);
            }
        }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.tokens.get(self.at) {
            Some((Token::Name(name), _)) => {
                self.at += 1;
                Ok(name.clone())
            }
            _ => Err(format!("a name is missing in `{}`", self.text)),
        }
    }

    /// A type in parentheses.
    fn cast(&mut self) -> Option<(Layout, bool)> {
        let before = self.at;
        let found = self.takes("(").then(|| {
            let mut words = Vec::new();
            while let Some((Token::Name(name), _)) = self.tokens.get(self.at) {
                words.push(name.clone());
                self.at += 1;
            }
            let pointer = self.takes("*");
            let layout = Layout::named(&words.join(" "))?;
            self.takes(")").then_some((layout, pointer))
        });
        let found = found.flatten();
        if found.is_none() {
            self.at = before;
        }
        found
    }

    fn primary(&mut self, depth: u32) -> Result<Node, String> {
        if self.takes("(") {
            let inner = self.choice(depth + 1)?;
            self.needs(")")?;
            return Ok(inner);
        }
        match self.tokens.get(self.at).cloned() {
            Some((Token::Number(n), _)) => {
                self.at += 1;
                Ok(Node::Number(n))
            }
            Some((Token::Name(name), _)) => self.named(&name),
            Some((token, _)) => Err(format!("`{}` is no expression", self.word(&token))),
            None => Err(format!("`{}` ends too early", self.text)),
        }
    }

    /// An id of the launch (`gid.x`, `lid.y`, `group.z`) that begins with a token, and its dimension's name.
    fn id(&self, first: usize, start: usize) -> Option<(Place, String)> {
        let (Token::Name(name), _) = self.tokens.get(first)? else { return None };
        let (Token::Sign("."), _) = self.tokens.get(first + 1)? else { return None };
        let (Token::Name(dimension), end) = self.tokens.get(first + 2)? else { return None };
        let is_id = ["gid", "lid", "group"].contains(&name.as_str()) && ["x", "y", "z"].contains(&dimension.as_str());
        let place = is_id.then(|| Place::parse(&self.text[start..*end], self.target).ok())??;
        Some((place, dimension.clone()))
    }

    /// A variable, or a place, which may be more words than one.
    fn named(&mut self, name: &str) -> Result<Node, String> {
        let first = self.at;
        self.at += 1;
        let variables = self.target.program().header.variables.as_ref();
        let is_variable = variables.is_some_and(|v| v.variables.iter().any(|v| v.name == name));
        let start = self.tokens[first].1 - name.len();
        if is_variable {
            let variable = Node::Variable(name.into());
            return Ok(self.id(first, start).map_or(variable.clone(), |(id, member)| {
                self.at = first + 3;
                Node::Id(id, Box::new(Node::Member(Box::new(variable), member)))
            }));
        }
        // The longest that is one: `local[16]:float4` before `local[16]`, `gid.x` before `gid`.
        for count in [6, 4, 3, 1] {
            let Some((_, end)) = self.tokens.get(first + count - 1) else { continue };
            if let Ok(place) = Place::parse(&self.text[start..*end], self.target) {
                self.at = first + count;
                return Ok(Node::Place(place));
            }
        }
        let end = |n: usize| self.tokens.get(first + n).map(|t| t.1);
        let indexed = matches!(self.tokens.get(self.at), Some((Token::Sign("["), _)));
        let text = &self.text[start..end(if indexed { 3 } else { 0 }).unwrap_or(self.text.len())];
        Err(Place::parse(text, self.target).err().unwrap_or_else(|| format!("`{name}` is not understood")))
    }
}

fn is_true(number: Number) -> bool {
    match number {
        Number::Integer(n, ..) => n != 0,
        Number::Float(x, _) => x != 0.0,
    }
}

/// A number as a value.
fn made(scene: &mut Scene, number: Number) -> Value {
    let (encoding, bytes, raw) = match number {
        Number::Integer(n, bytes, signed) => (if signed { Encoding::Signed } else { Encoding::Unsigned }, bytes, n.to_le_bytes()),
        Number::Float(x, bytes) => {
            let raw = match bytes {
                2 => half::f16::from_f64(x).to_bits().into(),
                4 => (x as f32).to_bits().into(),
                _ => x.to_bits(),
            };
            (Encoding::Float, bytes, u128::from(raw).to_le_bytes())
        }
    };
    let of = scene.number_type(encoding, bytes);
    Value { of, bytes: raw[..bytes as usize].iter().map(|b| Some(*b)).collect(), home: None }
}

fn evaluate(node: &Node, scene: &mut Scene) -> Result<Value, String> {
    match node {
        Node::Number(n) => Ok(made(scene, *n)),
        Node::Variable(name) => {
            let found = scene.find(name).ok_or_else(|| format!("`{name}` is not in scope here"))?;
            Ok(scene.value(found))
        }
        Node::Place(place) => place.typed(scene),
        Node::Id(id, member) => match has_members(member, scene) {
            true => evaluate(member, scene),
            false => id.typed(scene),
        },
        Node::Choice(condition, yes, no) => {
            let condition = evaluate_number(condition, scene)?;
            evaluate(if is_true(condition) { yes } else { no }, scene)
        }
        Node::Cast(layout, pointer, inner) => cast(*layout, *pointer, inner, scene),
        Node::Unary('*', inner) => {
            let pointer = evaluate(inner, scene)?;
            element(scene, &pointer, 0)
        }
        Node::Unary('&', inner) => {
            let value = evaluate(inner, scene)?;
            let (space, at) = value.home.ok_or("it is not in memory, and has no address")?;
            let of = scene.add(Type::Pointer { to: value.of, space: Some(space) });
            Ok(Value { of, bytes: at.to_le_bytes().map(Some).to_vec(), home: None })
        }
        Node::Unary(sign, inner) => {
            let number = evaluate_number(inner, scene)?;
            let result = match (sign, number) {
                ('!', n) => Number::Integer(i128::from(!is_true(n)), 4, true),
                ('-', Number::Float(x, bytes)) => Number::Float(-x, bytes),
                ('-', n) => arithmetic("-", Number::Integer(0, 4, true), n)?,
                ('~', n @ Number::Integer(..)) => arithmetic("^", n, Number::Integer(-1, 4, true))?,
                ('+', n) => n,
                _ => return Err(format!("`{sign}` takes an integer")),
            };
            Ok(made(scene, result))
        }
        Node::Binary(sign, left, right) => binary(sign, left, right, scene),
        Node::Element(base, index) => {
            let base = evaluate(base, scene)?;
            match evaluate_number(index, scene)? {
                Number::Integer(n, ..) => element(scene, &base, i64::try_from(n).map_err(|_| "the index is too large")?),
                Number::Float(..) => Err("an index is an integer".into()),
            }
        }
        Node::Member(base, name) => {
            let base = evaluate(base, scene)?;
            member(scene, &base, name)
        }
    }
}

/// Whether a member is one of a variable that is in scope and has members.
fn has_members(node: &Node, scene: &Scene) -> bool {
    let Node::Member(base, _) = node else { return false };
    let Node::Variable(name) = &**base else { return false };
    let of = scene.find(name).and_then(|n| Some(scene.variables()?.variables.get(n as usize)?.of));
    of.is_some_and(|of| matches!(scene.plain(of), Some(Type::Structure { .. } | Type::Vector { .. })))
}

fn evaluate_number(node: &Node, scene: &mut Scene) -> Result<Number, String> {
    let value = evaluate(node, scene)?;
    scene.number(&value)
}

fn cast(layout: Layout, pointer: bool, inner: &Node, scene: &mut Scene) -> Result<Value, String> {
    let value = evaluate(inner, scene)?;
    let of = layout.as_type(scene);
    if pointer {
        let space = match scene.plain(value.of) {
            Some(Type::Pointer { space, .. }) => *space,
            _ => Some(MemorySpace::Global),
        };
        let Number::Integer(n, ..) = scene.number(&value)? else { return Err("a float is no address".into()) };
        let of = scene.add(Type::Pointer { to: of, space });
        return Ok(Value { of, bytes: (n as u64).to_le_bytes().map(Some).to_vec(), home: None });
    }
    let (encoding, bytes, components) = layout.parts();
    if components != 1 {
        return Err("vectors cannot be cast".into());
    }
    let bytes = bytes as u32;
    let number = match (encoding, scene.number(&value)?) {
        (Encoding::Float, Number::Integer(n, ..)) => Number::Float(n as f64, bytes),
        (Encoding::Float, Number::Float(x, _)) => Number::Float(x, bytes),
        (Encoding::Boolean, n) => Number::Integer(i128::from(is_true(n)), bytes, false),
        (_, Number::Float(x, _)) => wrapped(x as i128, bytes, encoding == Encoding::Signed),
        (_, Number::Integer(n, ..)) => wrapped(n, bytes, encoding == Encoding::Signed),
    };
    let value = made(scene, number);
    Ok(Value { of, ..value })
}

fn binary(sign: &str, left: &Node, right: &Node, scene: &mut Scene) -> Result<Value, String> {
    if matches!(sign, "&&" | "||") {
        // The right side may have no value where the left one decides.
        let first = is_true(evaluate_number(left, scene)?);
        let all = if first == (sign == "||") { first } else { is_true(evaluate_number(right, scene)?) };
        return Ok(made(scene, Number::Integer(i128::from(all), 4, true)));
    }
    let (a, b) = (evaluate(left, scene)?, evaluate(right, scene)?);
    let (x, y) = (scene.number(&a)?, scene.number(&b)?);
    if matches!(sign, "+" | "-")
        && let Some(result) = pointers(sign, (&a, x), (&b, y), scene)?
    {
        return Ok(result);
    }
    let result = arithmetic(sign, x, y)?;
    Ok(made(scene, result))
}

/// Sums and differences with pointers, which count elements (ISO C, 6.5.6); `None` if neither side is one.
fn pointers(sign: &str, a: (&Value, Number), b: (&Value, Number), scene: &mut Scene) -> Result<Option<Value>, String> {
    let size = |v: &Value| match scene.plain(v.of) {
        // Of void, and of what has no size, one byte.
        Some(Type::Pointer { to, .. }) => Some(i128::from(scene.size(*to).max(1))),
        _ => None,
    };
    let (of, at, by, size) = match (size(a.0), size(b.0), a.1, b.1) {
        (None, None, ..) => return Ok(None),
        (Some(n), Some(m), Number::Integer(x, ..), Number::Integer(y, ..)) if sign == "-" => {
            if n != m {
                let names = (scene.name(a.0.of), scene.name(b.0.of));
                return Err(format!("`-` takes no pointers to different types: `{}` and `{}`", names.0, names.1));
            }
            return Ok(Some(made(scene, Number::Integer((x - y) / n, 8, true))));
        }
        (Some(size), None, Number::Integer(at, ..), Number::Integer(by, ..)) => (a.0.of, at, by, size),
        (None, Some(size), Number::Integer(by, ..), Number::Integer(at, ..)) if sign == "+" => (b.0.of, at, by, size),
        _ => return Err(format!("`{sign}` takes no such two: with a pointer goes an integer behind it, or in front of `+`")),
    };
    let distance = by.wrapping_mul(size);
    let sum = if sign == "+" { at.wrapping_add(distance) } else { at.wrapping_sub(distance) };
    Ok(Some(Value { of, bytes: (sum as u64).to_le_bytes().map(Some).to_vec(), home: None }))
}

/// An integer in so many bytes.
fn wrapped(n: i128, bytes: u32, signed: bool) -> Number {
    let up = 128 - 8 * bytes.clamp(1, 16);
    let bits = if signed { n << up >> up } else { ((n as u128) << up >> up) as i128 };
    Number::Integer(bits, bytes, signed)
}

/// Arithmetic and comparisons of numbers, in the type that C brings both to.
fn arithmetic(sign: &str, a: Number, b: Number) -> Result<Number, String> {
    let (x, y, bytes) = match (a, b) {
        (Number::Integer(x, n, s), Number::Integer(y, m, t)) => return integers(sign, (x, n, s), (y, m, t)),
        (Number::Float(x, n), Number::Float(y, m)) => (x, y, n.max(m)),
        (Number::Float(x, n), Number::Integer(y, ..)) => (x, y as f64, n),
        (Number::Integer(x, ..), Number::Float(y, n)) => (x as f64, y, n),
    };
    let (x, y) = if bytes <= 4 { (f64::from(x as f32), f64::from(y as f32)) } else { (x, y) };
    if let Some(result) = comparison(sign, &x, &y) {
        return Ok(result);
    }
    let result = match sign {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        _ => return Err(format!("`{sign}` takes integers")),
    };
    // Sums and products of floats in f64, rounded once more, are those of floats.
    Ok(Number::Float(if bytes <= 4 { f64::from(result as f32) } else { result }, bytes.max(4)))
}

/// An `int` that says whether a comparison holds; `None` if the sign is none of a comparison.
fn comparison<T: PartialOrd>(sign: &str, x: &T, y: &T) -> Option<Number> {
    let holds = match sign {
        "==" => x == y,
        "!=" => x != y,
        "<" => x < y,
        "<=" => x <= y,
        ">" => x > y,
        ">=" => x >= y,
        _ => return None,
    };
    Some(Number::Integer(i128::from(holds), 4, true))
}

fn integers(sign: &str, (x, n, s): (i128, u32, bool), (y, m, t): (i128, u32, bool)) -> Result<Number, String> {
    // Integers narrower than int become int; of two, the wider one decides, and if they are as wide, the unsigned one.
    let promoted = |n: u32, s: bool| if n < 4 { (4, true) } else { (n, s) };
    let ((n, s), (m, t)) = (promoted(n, s), promoted(m, t));
    let (bytes, signed) = match n.cmp(&m) {
        _ if matches!(sign, "<<" | ">>") => (n, s),
        std::cmp::Ordering::Greater => (n, s),
        std::cmp::Ordering::Less => (m, t),
        std::cmp::Ordering::Equal => (n, s && t),
    };
    let value = |v: i128| match wrapped(v, bytes, signed) {
        Number::Integer(v, ..) => v,
        Number::Float(..) => v,
    };
    let by = (y as u32) % (8 * bytes);
    let (x, y) = (value(x), value(y));
    if let Some(result) = comparison(sign, &x, &y) {
        return Ok(result);
    }
    let result = match sign {
        "+" => x + y,
        "-" => x - y,
        "*" => x.wrapping_mul(y),
        "/" => x.checked_div(y).ok_or("division by zero")?,
        "%" => x.checked_rem(y).ok_or("division by zero")?,
        "&" => x & y,
        "|" => x | y,
        "^" => x ^ y,
        "<<" => x << by,
        ">>" => x >> by,
        _ => return Err(format!("`{sign}` is not understood")),
    };
    Ok(wrapped(result, bytes, signed))
}

/// An element of an array or vector, or what a pointer points to.
fn element(scene: &mut Scene, base: &Value, index: i64) -> Result<Value, String> {
    match scene.plain(base.of).cloned() {
        Some(Type::Array { of, count }) => inside(scene, base, of, index, count),
        Some(Type::Vector { of, count }) => inside(scene, base, of, index, count.into()),
        Some(Type::Pointer { to, space }) => {
            let Number::Integer(at, ..) = scene.number(base)? else { return Err("a float is no address".into()) };
            let distance = index.wrapping_mul(scene.size(to) as i64);
            let (space, at) = space_of(space, at as u64);
            if scene.size(to) == 0 {
                return Err(format!("a value of the type `{}` cannot be shown", scene.name(to)));
            }
            scene.at(to, space, at.wrapping_add_signed(distance))
        }
        _ => Err(format!("a value of the type `{}` has no elements", scene.name(base.of))),
    }
}

/// The memory and the address in it that a pointer means: of a generic one the upper word says so.
fn space_of(space: Option<MemorySpace>, address: u64) -> (MemorySpace, u64) {
    use heddle_llvm_passes::ir::address_space::{LOCAL_APERTURE, PRIVATE_APERTURE};
    let low = address & u64::from(u32::MAX);
    match (space, (address >> 32) as u32) {
        (Some(space), _) => (space, address),
        (None, LOCAL_APERTURE) => (MemorySpace::Local, low),
        (None, PRIVATE_APERTURE) => (MemorySpace::Private, low),
        (None, 0) => (MemorySpace::Private, low),
        (None, _) => (MemorySpace::Global, address),
    }
}

fn inside(scene: &Scene, base: &Value, of: u32, index: i64, count: u64) -> Result<Value, String> {
    let index = u64::try_from(index).ok().filter(|i| *i < count).ok_or_else(|| format!("there are {count} elements"))?;
    let size = scene.size(of);
    let first = index.saturating_mul(size);
    let bytes = base.bytes.get(first as usize..first.saturating_add(size) as usize).map(<[_]>::to_vec).unwrap_or_default();
    Ok(Value { of, bytes, home: base.home.map(|(space, at)| (space, at.wrapping_add(first))) })
}

/// Structures without a name that are looked into for a member; a damaged object may have them in a circle.
const MOST_UNNAMED: u32 = 1000;
/// As deep as those are in each other.
const DEEPEST_UNNAMED: u32 = 16;

/// A member of a structure, or components of a vector: `x`, `s3`, `xyz`, `lo`.
fn member(scene: &mut Scene, base: &Value, name: &str) -> Result<Value, String> {
    let none = |scene: &Scene| Err(format!("a value of the type `{}` has no `{name}`", scene.name(base.of)));
    match scene.plain(base.of).cloned() {
        Some(Type::Structure { .. }) => {
            structure_member(scene, base, name, DEEPEST_UNNAMED, &mut { MOST_UNNAMED }).map_or_else(|| none(scene), Ok)
        }
        Some(Type::Vector { of, count }) => {
            let Some(all) = components(name, count) else { return none(scene) };
            let parts = all.iter().map(|i| inside(scene, base, of, i64::from(*i), count.into()));
            let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
            if parts.len() == 1 {
                return Ok(parts.remove(0));
            }
            let of = scene.add(Type::Vector { of, count: parts.len() as u32 });
            let mut bytes: Vec<Option<u8>> = parts.into_iter().flat_map(|p| p.bytes).collect();
            bytes.resize(scene.size(of) as usize, Some(0));
            Ok(Value { of, bytes, home: None })
        }
        _ => none(scene),
    }
}

/// A member of a structure, or of one without a name in it; `left`: how many of those may still be looked into.
fn structure_member(scene: &Scene, base: &Value, name: &str, depth: u32, left: &mut u32) -> Option<Value> {
    let Some(Type::Structure { members, .. }) = scene.plain(base.of) else { return None };
    if let Some(m) = members.iter().find(|m| m.name == name) {
        return Some(scene.member(base, m));
    }
    let depth = depth.checked_sub(1)?;
    members.iter().filter(|m| m.name.is_empty()).find_map(|m| {
        *left = left.checked_sub(1)?;
        structure_member(scene, &scene.member(base, m), name, depth, left)
    })
}

/// Numbers of the components of a vector that a name means.
fn components(name: &str, count: u32) -> Option<Vec<u32>> {
    let half = count.div_ceil(2);
    let all: Vec<u32> = match name {
        "lo" => (0..half).collect(),
        "hi" => (half..2 * half).collect(),
        "even" => (0..count).step_by(2).collect(),
        "odd" => (1..count).step_by(2).collect(),
        _ => match name.strip_prefix(['s', 'S']) {
            Some(digits) => digits.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?,
            None => name.chars().map(|c| "xyzw".find(c).map(|i| i as u32)).collect::<Option<_>>()?,
        },
    };
    (!all.is_empty() && all.iter().all(|i| *i < count)).then_some(all)
}
