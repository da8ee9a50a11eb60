//! What a kernel finds in the constant bank: its arguments' values, from what a case file or a caller gives.

use std::collections::BTreeMap;

use super::super::case::{Argument, Buffer};
use super::Request;
use super::stale::Accesses;
use heddle_isa::MemorySpace;
use heddle_object::metadata::{ArgumentKind, KernelArgument, KernelHeader, LOCAL_ARGUMENT_ALIGN, Redzone};
use heddle_sim::DeviceMemory;
use heddle_sim::image::Image as ImageShape;

/// What the arguments of a launch come to.
#[derive(Debug, Default)]
pub(super) struct ArgumentBank {
    /// The constant bank.
    pub constants: Vec<u8>,
    /// Bytes of work-group memory, static and of arguments.
    pub local_bytes: u32,
    /// Image arguments by number: device address and shape.
    pub images: BTreeMap<u32, (u64, ImageShape)>,
    /// Bytes of work-group memory that nothing may access.
    pub redzones: Vec<Redzone>,
    /// Allocations that the arguments point to, and the program-scope data.
    pub accesses: Accesses,
}

/// The constant bank of a launch, the work-group memory it needs, and its images. `apart`: with redzones
/// between the work-group memories of arguments.
///
/// # Errors
/// A sentence naming the argument that does not fit.
pub(super) fn argument_bank(
    header: &KernelHeader,
    request: &Request,
    memory: &DeviceMemory,
    apart: bool,
) -> Result<ArgumentBank, String> {
    let kernel = &header.name;
    let visible = header.visible_args();
    let arguments = request.arguments;
    if arguments.len() != visible.len() {
        let wanted: Vec<String> = visible.iter().map(|a| format!("{} {}", a.type_name, a.name).trim().to_string()).collect();
        return Err(format!(
            "kernel `{kernel}` takes {} arguments ({}), {} are given",
            visible.len(),
            wanted.join(", "),
            arguments.len()
        ));
    }
    let mut bank = ArgumentBank { constants: header.constant_bank(), local_bytes: header.local_bytes, ..ArgumentBank::default() };
    bank.constants[..8].copy_from_slice(&request.data.to_le_bytes());
    if request.data != 0 {
        bank.accesses.add(memory, request.data, true);
    }
    for address in request.indirect {
        bank.accesses.add(memory, *address, true);
    }
    let given = Given { request, memory, apart };
    for (i, (parameter, argument)) in visible.iter().zip(arguments).enumerate() {
        bank.set(i as u32, parameter, argument, &given).map_err(|problem| {
            format!("argument {i} (`{} {}`) of kernel `{kernel}`{problem}", parameter.type_name, parameter.name)
        })?;
    }
    Ok(bank)
}

/// What arguments are made with.
struct Given<'a> {
    request: &'a Request<'a>,
    memory: &'a DeviceMemory,
    /// With redzones between work-group memories.
    apart: bool,
}

impl Given<'_> {
    /// Address of a byte of a buffer of the case.
    fn address(&self, name: &str, offset: u64) -> Result<u64, String> {
        let address = *self.request.addresses.get(name).ok_or_else(|| format!(": no buffer `{name}`"))?;
        let bytes = self.memory.root(address).map_or(0, |r| r.end - r.start);
        match offset <= bytes {
            true => Ok(address + offset),
            false => Err(format!(": offset {offset} is behind the end of buffer `{name}`, which has {bytes} bytes")),
        }
    }
}

impl ArgumentBank {
    /// Puts an argument into the constant bank, but the one that the runtime sets itself. What is wrong with
    /// it follows its name in a message.
    fn set(&mut self, number: u32, parameter: &KernelArgument, argument: &Argument, given: &Given) -> Result<(), String> {
        match (parameter.kind, argument) {
            (ArgumentKind::PrintfBuffer, _) => Ok(()),
            (ArgumentKind::Global | ArgumentKind::Constant, Argument::Buffer { name, offset }) => {
                self.pointer(parameter, given.address(name, *offset)?, given)
            }
            (ArgumentKind::Global | ArgumentKind::Constant, Argument::Pointer { address }) => {
                self.pointer(parameter, *address, given)
            }
            (ArgumentKind::Local, Argument::Local(n)) => {
                let at = self.local_memory(*n, parameter, given.apart)?;
                self.put(parameter, &at.to_le_bytes())
            }
            (ArgumentKind::Image, Argument::Buffer { name, offset }) => {
                let image = image_of(name, parameter, given)?;
                self.image(number, parameter, given.address(name, *offset)?, image, given)
            }
            (ArgumentKind::Image, Argument::Image { address, image }) => self.image(number, parameter, *address, *image, given),
            (ArgumentKind::Sampler, Argument::Value { bytes, .. }) => self.put(parameter, bytes),
            (ArgumentKind::Value, Argument::Value { bytes, float }) => {
                if float.is_some_and(|f| is_float_type(&parameter.type_name).is_some_and(|wanted| f != wanted)) {
                    let given = if *float == Some(true) { "floating-point" } else { "integer" };
                    return Err(format!(" gets {given} bits; give the value as the kernel's type (or as \"bytes\")"));
                }
                self.put(parameter, bytes)
            }
            (kind, _) => Err(what_to_give(kind).into()),
        }
    }

    /// Writes an argument's bytes to its place.
    fn put(&mut self, parameter: &KernelArgument, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() != parameter.size as usize {
            return Err(format!(" has {} bytes, {} are given", parameter.size, bytes.len()));
        }
        let at = parameter.offset as usize;
        self.constants[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// A pointer to device memory.
    fn pointer(&mut self, parameter: &KernelArgument, address: u64, given: &Given) -> Result<(), String> {
        self.accesses.add(given.memory, address, !parameter.read_only && parameter.kind != ArgumentKind::Constant);
        self.put(parameter, &address.to_le_bytes())
    }

    /// Work-group memory of `n` bytes for an argument; returns where it begins.
    fn local_memory(&mut self, n: u32, parameter: &KernelArgument, apart: bool) -> Result<u32, String> {
        let too_much = || format!(": {n} bytes of work-group memory are more than an address can reach");
        // The type behind the pointer is not known here, but its size divides the bytes: no type has more than 128.
        let align = parameter.align.max(LOCAL_ARGUMENT_ALIGN).max(1 << n.trailing_zeros().min(7));
        let at = self.local_bytes.checked_next_multiple_of(align).ok_or_else(too_much)?;
        self.local_bytes = at.checked_add(n).ok_or_else(too_much)?;
        if apart && self.local_bytes < u32::MAX / 2 {
            let zone = Redzone::behind(MemorySpace::Local, self.local_bytes);
            self.local_bytes = zone.end;
            self.redzones.push(zone);
        }
        Ok(at)
    }

    /// An image: its size and format, for the kernel's queries.
    fn image(
        &mut self,
        number: u32,
        parameter: &KernelArgument,
        address: u64,
        image: ImageShape,
        given: &Given,
    ) -> Result<(), String> {
        self.accesses.add(given.memory, address, !parameter.read_only);
        self.images.insert(number, (address, image));
        let [width, height, depth] = image.size;
        let words = [width, height, depth, image.layers, image.format.order_code(), image.format.type_code()];
        let mut bytes = [0; 24];
        bytes.chunks_exact_mut(4).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        self.put(parameter, &bytes)
    }
}

/// The shape that a case gives its buffer, as the parameter's type has it.
fn image_of(name: &str, parameter: &KernelArgument, given: &Given) -> Result<ImageShape, String> {
    let Some(buffer) = given.request.buffers.get(name) else { return Err(format!(": no buffer `{name}`")) };
    let Buffer { image: Some(image), .. } = buffer else {
        return Err(format!(
            " is an image; say the shape of buffer `{name}`: \"image\": {{\"width\": …, \"height\": …, \
             \"format\": \"RGBA_UNORM8\"}}"
        ));
    };
    image.shape(&parameter.type_name).map_err(|m| format!(": {m}"))
}

/// What to give for an argument of a kind, behind the argument's name.
fn what_to_give(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Global | ArgumentKind::Constant => {
            " is a pointer; give a buffer: {\"buffer\": \"NAME\"} in a case file, NAME=zeros:TYPE:SHAPE after --arg"
        }
        ArgumentKind::Local => {
            " is a local pointer; give its size: {\"local\": BYTES} in a case file, \
        local=BYTES after --arg"
        }
        ArgumentKind::Image => " is an image; give a buffer with a shape, as {\"buffer\": \"NAME\"}",
        ArgumentKind::Sampler => " is a sampler; give {\"sampler\": {…}}",
        ArgumentKind::Value | ArgumentKind::PrintfBuffer => {
            " is passed by value; give a scalar, a vector or bytes: {\"i32\": 5} in a case file, i32=5 after --arg"
        }
    }
}

/// Whether OpenCL C's built-in scalar or vector type of this name is floating-point; `None` for other names.
fn is_float_type(name: &str) -> Option<bool> {
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "float" | "double" | "half" => Some(true),
        "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" => Some(false),
        _ => None,
    }
}
