//! What can be looked at in a launch: arguments and elements of buffers, ids, registers, memory.

use heddle_isa::text::parse_operand;
use heddle_isa::{MemorySpace, Operand, Reg, Space, Special};
use heddle_object::metadata::ArgumentKind;
use heddle_object::variables::{Encoding, Type};
use heddle_sim::debug::Debuggee;

use super::layout::{Lane, Layout};
use super::value::{Scene, Value};

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
    /// address), `private[8]`, `global[0x140000000]:float4`.
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
            _ => Err(format!("there is no `{body}`: it is no variable of the source, argument of the kernel, id or register")),
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
            What::Id(kind, d) => self.id(target, lane, *kind, *d).map(|n| n.to_string()),
            What::Register(..) => {
                let word = self.word(target, lane)?;
                let float = f32::from_bits(word);
                Ok(format!("{word:#x} ({}, {float:?} as float)", word as i32))
            }
        }
    }

    /// Bytes in memory as a place that is called `text`; `whole`: how many in all.
    pub fn in_memory(text: &str, space: MemorySpace, address: u64, layout: Option<Layout>, whole: usize) -> Place {
        let layout = layout.unwrap_or(Layout::WORD);
        let count = whole.div_ceil(layout.stride()).max(1);
        Place { text: text.to_string(), what: What::Bytes(Bytes { space, address, layout, count }) }
    }

    /// Its value for a lane, with a type.
    ///
    /// # Errors
    /// It has none now, as a sentence.
    pub fn typed(&self, scene: &mut Scene) -> Result<Value, String> {
        let (target, lane) = (scene.target, scene.lane);
        let known = |of: u32, bytes: &[u8]| Value { of, bytes: bytes.iter().map(|b| Some(*b)).collect(), home: None };
        match &self.what {
            What::Number(n) => {
                let of = scene.number_type(Encoding::Float, 8);
                Ok(known(of, &n.to_le_bytes()))
            }
            What::Pointer(address) => {
                let argument = target.program().header.args.iter().find(|a| a.name == self.text);
                let space = argument.and_then(|a| match a.kind {
                    ArgumentKind::Global | ArgumentKind::Constant => Some(MemorySpace::Global),
                    ArgumentKind::Local => Some(MemorySpace::Local),
                    _ => None,
                });
                let to = match argument.and_then(|a| pointee(&a.type_name)) {
                    Some(layout) => layout.as_type(scene),
                    None => scene.add(Type::Unknown { name: String::new() }),
                };
                let of = scene.add(Type::Pointer { to, space });
                Ok(known(of, &address.to_le_bytes()))
            }
            What::Bytes(bytes) => {
                let data = self.read(target, lane);
                let data = data.ok_or_else(|| format!("{} lies outside the memory of its space", self.text))?;
                let of = bytes.layout.as_type(scene);
                Ok(Value { home: Some((bytes.space, bytes.address)), ..known(of, &data) })
            }
            What::Id(kind, d) => {
                let of = scene.number_type(Encoding::Unsigned, 4);
                Ok(known(of, &self.id(target, lane, *kind, *d)?.to_le_bytes()))
            }
            What::Register(..) => {
                let of = scene.number_type(Encoding::Signed, 4);
                Ok(known(of, &self.word(target, lane)?.to_le_bytes()))
            }
        }
    }

    fn id(&self, target: &dyn Debuggee, lane: Lane, kind: char, dimension: usize) -> Result<u32, String> {
        let ended = "the launch has ended";
        let (group, size) = target.group().ok_or(ended)?;
        let id = match kind {
            'w' => group,
            'l' => local_id(target, size, lane),
            _ => global_id(target, lane).ok_or(ended)?,
        };
        Ok(id[dimension])
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

/// Global id of a lane; `None` once the launch has ended.
pub fn global_id(target: &dyn Debuggee, lane: Lane) -> Option<[u32; 3]> {
    let (_, size) = target.group()?;
    let (origin, local) = (target.origin(), local_id(target, size, lane));
    Some(std::array::from_fn(|d| origin[d].wrapping_add(local[d])))
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
