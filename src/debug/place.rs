//! What can be looked at in a launch: arguments and elements of buffers, ids, registers, memory.

use heddle_isa::text::parse_operand;
use heddle_isa::{MemorySpace, Operand, Reg, Space, Special};
use heddle_object::metadata::ArgumentKind;
use heddle_sim::debug::Debuggee;

/// A lane of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Warp of the work-group.
    pub warp: u32,
    /// Lane of the warp.
    pub lane: u32,
}

/// Types of scalars in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scalar {
    Signed,
    Unsigned,
    Float,
}

/// How bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    scalar: Scalar,
    /// Bytes of a component.
    bytes: usize,
    components: usize,
}

impl Layout {
    const WORD: Layout = Layout { scalar: Scalar::Unsigned, bytes: 4, components: 1 };

    /// Of an OpenCL C type: `float4`, `uchar`, without qualifiers and stars.
    pub fn named(name: &str) -> Option<Layout> {
        let name = name.trim();
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let base = &name[..name.len() - digits.len()];
        let components = if digits.is_empty() { 1 } else { digits.parse().ok().filter(|n| [2, 3, 4, 8, 16].contains(n))? };
        let (scalar, bytes) = match base {
            "char" => (Scalar::Signed, 1),
            "uchar" | "unsigned char" | "bool" => (Scalar::Unsigned, 1),
            "short" => (Scalar::Signed, 2),
            "ushort" | "unsigned short" => (Scalar::Unsigned, 2),
            "int" => (Scalar::Signed, 4),
            "uint" | "unsigned int" => (Scalar::Unsigned, 4),
            "long" => (Scalar::Signed, 8),
            "ulong" | "unsigned long" | "size_t" => (Scalar::Unsigned, 8),
            "half" => (Scalar::Float, 2),
            "float" => (Scalar::Float, 4),
            "double" => (Scalar::Float, 8),
            _ => return None,
        };
        Some(Layout { scalar, bytes, components })
    }

    /// Bytes from one element to the next: vectors of three have room for four.
    pub fn stride(self) -> usize {
        self.bytes * if self.components == 3 { 4 } else { self.components }
    }

    /// A component as a number for comparisons.
    fn number(self, bytes: &[u8]) -> f64 {
        let raw = bytes.iter().take(self.bytes).rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
        match (self.scalar, self.bytes) {
            (Scalar::Float, 2) => f64::from(half::f16::from_bits(raw as u16)),
            (Scalar::Float, 4) => f64::from(f32::from_bits(raw as u32)),
            (Scalar::Float, _) => f64::from_bits(raw),
            (Scalar::Signed, n) => (raw << (64 - 8 * n)) as i64 as f64 / 2f64.powi(64 - 8 * n as i32),
            (Scalar::Unsigned, _) => raw as f64,
        }
    }

    /// A component in words.
    fn component(self, bytes: &[u8]) -> String {
        let raw = bytes.iter().take(self.bytes).rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
        match (self.scalar, self.bytes) {
            (Scalar::Float, 2) => half::f16::from_bits(raw as u16).to_string(),
            (Scalar::Float, 4) => f32::from_bits(raw as u32).to_string(),
            (Scalar::Float, _) => f64::from_bits(raw).to_string(),
            (Scalar::Signed, n) => ((raw << (64 - 8 * n)) as i64 >> (64 - 8 * n)).to_string(),
            (Scalar::Unsigned, _) => raw.to_string(),
        }
    }

    /// An element in words: `1.5`, `(1, 2, 3)`.
    pub fn text(self, bytes: &[u8]) -> String {
        let all: Vec<String> = bytes.chunks(self.bytes).take(self.components).map(|b| self.component(b)).collect();
        if self.components == 1 { all.concat() } else { format!("({})", all.join(", ")) }
    }
}

/// Bytes somewhere in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The memory.
    pub space: MemorySpace,
    /// First byte.
    pub address: u64,
    /// How to read them.
    pub layout: Layout,
    /// Elements.
    pub count: usize,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
enum What {
    Number(f64),
    /// A register of a cluster, or a special one.
    Register(Operand, u8),
    /// Global or local id, id of the work-group: dimension.
    Id(char, usize),
    Bytes(Bytes),
    /// A pointer argument itself: address, and how its elements are read.
    Pointer(u64),
}

/// Something that has a value at each moment, for a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    text: String,
    what: What,
}

/// Parses `0x10` or `16`.
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Place {
    /// Understands a place: `a[3]`, `n`, `gid.x`, `lid.y`, `group.z`, `m3`, `c1.l2`, `s0`, `p1`, `local[16]` (a word at an
    /// address), `private[8]`, `global[0x100000000]:float4`.
    ///
    /// # Errors
    /// What is not understood, as a sentence.
    pub fn parse(text: &str, target: &dyn Debuggee) -> Result<Place, String> {
        let text = text.trim();
        let place = |what| Ok(Place { text: text.to_string(), what });
        if let Ok(value) = text.parse::<f64>() {
            return place(What::Number(value));
        }
        if let Some(value) = text.strip_prefix("0x").and_then(|_| number(text)) {
            return place(What::Number(value as f64));
        }
        let (body, layout) = match text.rsplit_once(':') {
            Some((body, name)) => {
                (body.trim(), Some(Layout::named(name).ok_or_else(|| format!("`{}` is no type of numbers", name.trim()))?))
            }
            None => (text, None),
        };
        if let Some((name, index)) = body.strip_suffix(']').and_then(|b| b.split_once('[')) {
            let index = number(index.trim()).ok_or_else(|| format!("`{}` is no number", index.trim()))?;
            let at = |space| Bytes { space, address: index, layout: layout.unwrap_or(Layout::WORD), count: 1 };
            return match name.trim() {
                "global" => place(What::Bytes(at(MemorySpace::Global))),
                "local" => place(What::Bytes(at(MemorySpace::Local))),
                "private" => place(What::Bytes(at(MemorySpace::Private))),
                "c" => place(What::Bytes(at(MemorySpace::Argument))),
                argument => place(What::Bytes(element(target, argument, index, layout)?)),
            };
        }
        if let Some((name, dimension)) = body.split_once('.')
            && let Some(d) = ["x", "y", "z"].iter().position(|x| *x == dimension)
            && let Some(kind) = [("gid", 'g'), ("lid", 'l'), ("group", 'w')].iter().find(|k| k.0 == name)
        {
            return place(What::Id(kind.1, d));
        }
        if let Some(what) = argument(target, body) {
            return place(what);
        }
        let (cluster, register) = match body.split_once('.') {
            Some((c, register)) if c.starts_with('c') && c[1..].parse::<u8>().is_ok() => (c[1..].parse().unwrap_or(0), register),
            _ => (0, body),
        };
        match parse_operand(register) {
            Ok((operand @ (Operand::Reg(Reg::Physical(_)) | Operand::Special(_)), _)) => place(What::Register(operand, cluster)),
            _ => Err(format!(
                "there is no `{body}`: it is no argument of the kernel, id or register (variables of the source are not known here)"
            )),
        }
    }

    /// What was asked for.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The memory that it is in; `None` for registers and ids.
    pub fn bytes(&self) -> Option<&Bytes> {
        match &self.what {
            What::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Its bytes in memory now.
    pub fn read(&self, target: &dyn Debuggee, lane: Lane) -> Option<Vec<u8>> {
        let bytes = self.bytes()?;
        target.read(bytes.space, (lane.warp, lane.lane), bytes.address, bytes.layout.stride() * bytes.count)
    }

    /// Its value for a lane, in words.
    ///
    /// # Errors
    /// It has none now, as a sentence.
    pub fn value(&self, target: &dyn Debuggee, lane: Lane) -> Result<String, String> {
        match &self.what {
            What::Number(n) => Ok(n.to_string()),
            What::Pointer(address) => Ok(format!("{address:#x}")),
            What::Bytes(bytes) => {
                let data = self.read(target, lane);
                let data = data.ok_or_else(|| format!("{} lies outside the memory of its space", self.text))?;
                let all: Vec<String> = data.chunks(bytes.layout.stride()).map(|e| bytes.layout.text(e)).collect();
                Ok(all.join(" "))
            }
            What::Id(..) => self.number(target, lane).map(|n| n.to_string()),
            What::Register(..) => {
                let word = self.word(target, lane)?;
                let float = f32::from_bits(word);
                Ok(format!("{word:#x} ({}, {float:?} as float)", word as i32))
            }
        }
    }

    /// Its value for a lane as a number: for comparisons.
    ///
    /// # Errors
    /// It has none now, as a sentence.
    pub fn number(&self, target: &dyn Debuggee, lane: Lane) -> Result<f64, String> {
        match &self.what {
            What::Number(n) => Ok(*n),
            What::Pointer(address) => Ok(*address as f64),
            What::Bytes(bytes) => {
                let data = self.read(target, lane);
                Ok(bytes.layout.number(&data.ok_or_else(|| format!("{} lies outside the memory of its space", self.text))?))
            }
            What::Id(kind, d) => {
                let (group, size) = target.group().ok_or("the launch has ended")?;
                let local = local_id(target, size, lane);
                let id = match kind {
                    'w' => group,
                    'l' => local,
                    _ => std::array::from_fn(|d| target.origin()[d] + local[d]),
                };
                Ok(f64::from(id[*d]))
            }
            What::Register(..) => self.word(target, lane).map(|w| f64::from(w as i32)),
        }
    }

    fn word(&self, target: &dyn Debuggee, lane: Lane) -> Result<u32, String> {
        let What::Register(operand, cluster) = self.what else { return Err(format!("{} is no register", self.text)) };
        let found = match operand {
            Operand::Reg(Reg::Physical(register)) => target.register(lane.warp, lane.lane, register, cluster),
            Operand::Special(special) => target.special(lane.warp, lane.lane, special),
            _ => None,
        };
        found.ok_or_else(|| format!("the kernel has no {}", self.text))
    }
}

/// Local id of a lane.
pub fn local_id(target: &dyn Debuggee, [sx, sy, _]: [u32; 3], lane: Lane) -> [u32; 3] {
    let linear = lane.warp * target.lanes() + lane.lane;
    [linear % sx.max(1), linear / sx.max(1) % sy.max(1), linear / (sx * sy).max(1)]
}

/// The layout of what a pointer of this type points to.
fn pointee(type_name: &str) -> Option<Layout> {
    let name = type_name.trim().strip_suffix('*')?;
    let words: Vec<&str> = name.split_whitespace().filter(|w| !["const", "volatile", "restrict"].contains(w)).collect();
    Layout::named(&words.join(" "))
}

/// An argument by its name.
fn argument(target: &dyn Debuggee, name: &str) -> Option<What> {
    let argument = target.program().header.args.iter().find(|a| a.name == name)?;
    let (address, bytes) = (u64::from(argument.offset), argument.size as usize);
    let data = target.read(MemorySpace::Argument, (0, 0), address, bytes)?;
    if argument.kind == ArgumentKind::Value {
        let layout = Layout::named(&argument.type_name).unwrap_or(Layout::WORD);
        return Some(What::Bytes(Bytes { space: MemorySpace::Argument, address, layout, count: 1 }));
    }
    Some(What::Pointer(data.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))))
}

/// An element of what an argument points to.
fn element(target: &dyn Debuggee, name: &str, index: u64, layout: Option<Layout>) -> Result<Bytes, String> {
    let argument = target.program().header.args.iter().find(|a| a.name == name);
    let argument = argument.ok_or_else(|| format!("there is no argument `{name}`"))?;
    let space = match argument.kind {
        ArgumentKind::Global | ArgumentKind::Constant => MemorySpace::Global,
        ArgumentKind::Local => MemorySpace::Local,
        _ => return Err(format!("`{name}` is no pointer")),
    };
    let data = target.read(MemorySpace::Argument, (0, 0), argument.offset.into(), argument.size as usize).unwrap_or_default();
    let start = data.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
    let layout = layout.or_else(|| pointee(&argument.type_name));
    let layout = layout.ok_or_else(|| format!("say how to read `{name}`: {name}[{index}]:float"))?;
    Ok(Bytes { space, address: start + index * layout.stride() as u64, layout, count: 1 })
}

/// All registers of a lane with their values: name, word.
pub fn registers(target: &dyn Debuggee, lane: Lane) -> Vec<(String, u32)> {
    let header = &target.program().header;
    let mut all = Vec::new();
    let mut add = |space: Space, letter: &str, cluster: u8, count: u32| {
        for index in 0..count.min(256) {
            let register = heddle_isa::PhysReg { space, index: index as u8 };
            if let Some(word) = target.register(lane.warp, lane.lane, register, cluster) {
                all.push((format!("{letter}{index}"), word));
            }
        }
    };
    add(Space::Main, "m", 0, header.main_registers);
    for (cluster, count) in header.local_registers.iter().enumerate() {
        add(Space::Local, &format!("c{cluster}.l"), cluster as u8, *count);
    }
    add(Space::Scalar, "s", 0, header.scalar_registers);
    add(Space::Predicate, "p", 0, header.predicate_registers);
    let program = target.program();
    for (special, _) in &program.rows.specials {
        if let Some(word) = target.special(lane.warp, lane.lane, *special) {
            all.push((Special::to_string(special), word));
        }
    }
    all
}
