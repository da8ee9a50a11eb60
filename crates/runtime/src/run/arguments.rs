//! What a kernel finds in the constant bank: its arguments' values, from what a case file or a caller gives.

use std::collections::BTreeMap;

use super::super::case::{Argument, Buffer};
use super::Request;
use heddle_isa::MemorySpace;
use heddle_object::metadata::{ARGUMENTS_START, ArgumentKind, KernelArgument, KernelHeader, Redzone};
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
}

/// The constant bank of a launch, the work-group memory it needs, and its images. `apart`: with redzones
/// between the work-group memories of arguments.
///
/// # Errors
/// A sentence naming the argument that does not fit.
pub(super) fn argument_bank(header: &KernelHeader, request: &Request, apart: bool) -> Result<ArgumentBank, String> {
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
    let size = header.args.iter().map(|a| a.offset + a.size).max().unwrap_or(ARGUMENTS_START).max(ARGUMENTS_START);
    let mut bank = ArgumentBank {
        constants: vec![0u8; (size as usize).next_multiple_of(16)],
        local_bytes: header.local_bytes,
        ..ArgumentBank::default()
    };
    bank.constants[..8].copy_from_slice(&request.data.to_le_bytes());
    for (i, (parameter, argument)) in visible.iter().zip(arguments).enumerate() {
        let Some(bytes) = bank.value(i as u32, parameter, argument, request, apart).map_err(|problem| {
            format!("argument {i} (`{} {}`) of kernel `{kernel}`{problem}", parameter.type_name, parameter.name)
        })?
        else {
            continue;
        };
        let at = parameter.offset as usize;
        bank.constants[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    Ok(bank)
}

impl ArgumentBank {
    /// The bytes of an argument; `None` for the one that the runtime sets itself. What is wrong with it
    /// follows its name in a message.
    fn value(
        &mut self,
        number: u32,
        parameter: &KernelArgument,
        argument: &Argument,
        request: &Request,
        apart: bool,
    ) -> Result<Option<Vec<u8>>, String> {
        let bytes = match (parameter.kind, argument) {
            (ArgumentKind::PrintfBuffer, _) => return Ok(None),
            (ArgumentKind::Global | ArgumentKind::Constant, Argument::Buffer(b)) => {
                let address = request.addresses.get(b.as_str()).ok_or_else(|| format!(": no buffer `{b}`"))?;
                address.to_le_bytes().to_vec()
            }
            (ArgumentKind::Local, Argument::Local(n)) => self.local_memory(*n, parameter, apart)?.to_le_bytes().to_vec(),
            (ArgumentKind::Image, Argument::Buffer(b)) => self.image(number, b, parameter, request)?,
            (ArgumentKind::Sampler, Argument::Value { bytes, .. }) => bytes.clone(),
            (ArgumentKind::Value, Argument::Value { bytes, float }) => {
                if float.is_some_and(|f| is_float_type(&parameter.type_name).is_some_and(|wanted| f != wanted)) {
                    let given = if *float == Some(true) { "floating-point" } else { "integer" };
                    return Err(format!(" gets {given} bits; give the value as the kernel's type (or as \"bytes\")"));
                }
                bytes.clone()
            }
            (kind, _) => return Err(what_to_give(kind).into()),
        };
        if bytes.len() != parameter.size as usize {
            return Err(format!(" has {} bytes, {} are given", parameter.size, bytes.len()));
        }
        Ok(Some(bytes))
    }

    /// Work-group memory of `n` bytes for an argument; returns where it begins.
    fn local_memory(&mut self, n: u32, parameter: &KernelArgument, apart: bool) -> Result<u32, String> {
        let too_much = || format!(": {n} bytes of work-group memory are more than an address can reach");
        let at = self.local_bytes.checked_next_multiple_of(parameter.align.max(16)).ok_or_else(too_much)?;
        self.local_bytes = at.checked_add(n).ok_or_else(too_much)?;
        if apart && self.local_bytes < u32::MAX / 2 {
            let zone = Redzone::behind(MemorySpace::Local, self.local_bytes);
            self.local_bytes = zone.end;
            self.redzones.push(zone);
        }
        Ok(at)
    }

    /// An image in a buffer: its size and format, for the kernel's queries.
    fn image(&mut self, number: u32, name: &str, parameter: &KernelArgument, request: &Request) -> Result<Vec<u8>, String> {
        let (Some(address), Some(buffer)) = (request.addresses.get(name), request.buffers.get(name)) else {
            return Err(format!(": no buffer `{name}`"));
        };
        let Buffer { image: Some(image), .. } = buffer else {
            return Err(format!(
                " is an image; say the shape of buffer `{name}`: \"image\": {{\"width\": …, \"height\": …, \
                 \"format\": \"RGBA_UNORM8\"}}"
            ));
        };
        let image = image.shape(&parameter.type_name).map_err(|m| format!(": {m}"))?;
        self.images.insert(number, (*address, image));
        let [width, height, depth] = image.size;
        let words = [width, height, depth, image.layers, image.format.order_code(), image.format.type_code()];
        Ok(words.iter().flat_map(|w| w.to_le_bytes()).collect())
    }
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
