//! Images and samplers: `read_image…`, `write_image…` and the `get_image_…` queries (G1, G2).
//!
//! An image is named directly by the kernel's argument: OpenCL C lets no image be chosen at run time. A
//! sampler is an argument or a constant.

use crate::leaf::Parts;
use crate::{Selector, constants};
use heddle_isa::surface::{Surface, SurfaceIds, SurfaceKind};
use heddle_isa::{ImageAccess, Inst, Op, Operand, Type};
use heddle_llvm_passes::ir::Value;
use heddle_mir::RegClass;

/// An image function by its mangled name without the image's type.
#[derive(Clone, Copy, PartialEq)]
enum Function {
    Read(Type),
    Write(Type),
    /// A word of the image argument, zero-extended to the result.
    Word(u32),
    Dimensions,
}

/// Splits `_Z11read_imagef14ocl_image2d_ro…` into the function and the image type `image2d`.
fn image_function(name: &str) -> Option<(Function, &str)> {
    let rest = name.strip_prefix("_Z")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = rest[..digits].parse().ok()?;
    let (function, arguments) = rest[digits..].split_at_checked(length)?;
    let image = &arguments[arguments.find("ocl_image")? + 4..];
    let image = ["_ro", "_wo", "_rw"].iter().find_map(|end| image.split_once(end)).map(|(i, _)| i)?;
    let function = match function {
        "read_imagef" => Function::Read(Type::F32),
        "read_imagei" => Function::Read(Type::S32),
        "read_imageui" => Function::Read(Type::U32),
        "write_imagef" => Function::Write(Type::F32),
        "write_imagei" => Function::Write(Type::S32),
        "write_imageui" => Function::Write(Type::U32),
        "get_image_width" => Function::Word(0),
        "get_image_height" => Function::Word(1),
        "get_image_depth" => Function::Word(2),
        "get_image_array_size" => Function::Word(3),
        "get_image_channel_order" => Function::Word(4),
        "get_image_channel_data_type" => Function::Word(5),
        "get_image_dim" => Function::Dimensions,
        _ => return None,
    };
    Some((function, image))
}

/// Selects a call of an image function; false if it is none.
pub(crate) fn image_call(s: &mut Selector, i: Value, name: &str) -> bool {
    if name == "__translate_sampler_initializer" {
        let bits = constants::sign_extended(i.operand(0)).unwrap_or(0) as u32;
        s.values.set1(i, Operand::Immediate(bits));
        s.values.samplers.insert(i, Operand::Immediate(bits));
        return true;
    }
    let Some((function, image)) = image_function(name) else { return false };
    let Some(argument) = s.cx.parameter(i.operand(0)) else {
        s.report.error(Some(i), "an image that is no argument of the kernel is not supported; pass it as an argument");
        return true;
    };
    if image.contains("depth") || image.contains("msaa") {
        s.report.error(Some(i), format!("`{image}_t` is not supported"));
        return true;
    }
    let offset = s.out.f.args[argument].offset;
    let mut word = |n: u32| s.out.bank_words_on_entry(offset + 4 * n, 1);
    match function {
        Function::Word(n) => {
            let low = word(n);
            let wide = s.leaf(i).words() == 2;
            let value = if wide { s.out.pair(low, Operand::Immediate(0)) } else { low };
            s.values.low.insert(i, low);
            s.values.set1(i, value);
        }
        Function::Dimensions => {
            let count = s.cx.leaves(i).len() as u32;
            let parts: Parts = (0..count).map(|n| if n < 3 { word(n) } else { Operand::Immediate(0) }).collect();
            s.values.set(i, parts);
        }
        Function::Read(ty) => read_image(s, i, ty, argument, image),
        Function::Write(ty) => {
            let (place, words) = coordinates(s, i.operand(1), image);
            let texel = quad(s, i.operand(2));
            let surface = image_surface(s, argument);
            let access = ImageAccess { surface, integer: true, bare: false, coordinates: words, channels: ALL };
            let mut inst = Inst::new(Op::ImageStore, ty, Operand::None, [place, texel]);
            inst.imm = access.immediate();
            s.out.push(inst);
        }
    }
    true
}

/// All channels of a texel.
const ALL: u8 = 0xf;

fn read_image(s: &mut Selector, i: Value, ty: Type, argument: usize, image: &str) {
    // With a sampler: image, sampler, coordinates.
    let sampled = i.operand(1).is_pointer();
    let place = i.operand(if sampled { 2 } else { 1 });
    let sampler = if sampled { sampler(s, i) } else { Operand::None };
    let integer = !s.leaf(place).float;
    let (place, words) = coordinates(s, place, image);
    let dst = s.out.f.add_vreg(RegClass::vector(4));
    let access = ImageAccess { surface: image_surface(s, argument), integer, bare: !sampled, coordinates: words, channels: ALL };
    let mut inst = Inst::new(Op::Sample, ty, Operand::virt(dst), [sampler, place]);
    inst.imm = access.immediate();
    s.out.push(inst);
    s.values.set(i, (0..4).map(|w| Operand::virt_word(dst, w)).collect());
}

fn sampler(s: &mut Selector, i: Value) -> Operand {
    let sampler = i.operand(1);
    if let Some(op) = s.values.samplers.get(&sampler) {
        return *op;
    }
    match s.cx.parameter(sampler) {
        Some(argument) => {
            let offset = s.out.f.args[argument].offset;
            s.out.bank_words_on_entry(offset, 1)
        }
        None => {
            s.report.error(Some(i), "a sampler that is neither an argument of the kernel nor a constant");
            Operand::Immediate(0x10)
        }
    }
}

fn image_surface(s: &mut Selector, argument: usize) -> u8 {
    let zero = Default::default;
    let strides = [zero(), zero(), zero()];
    let (kind, ids) = (SurfaceKind::TypedImage, SurfaceIds::Global);
    let surface = Surface { argument: argument as u32, kind, ids, strides, base: zero() };
    s.out.add_surface(surface)
}

/// The coordinates that an image of a type (`image2d_array`) has, in lane words, and how many words these are.
fn coordinates(s: &mut Selector, place: Value, image: &str) -> (Operand, u8) {
    let dimensions = if image.starts_with("image3d") { 3 } else { 1 + usize::from(image.starts_with("image2d")) };
    let parts = s.parts(place);
    match dimensions + usize::from(image.contains("array")) {
        1 => (parts.first().copied().unwrap_or_default(), 1),
        2 if parts.len() >= 2 => (s.out.tuple(&parts[..2]), 2),
        _ => (quad(s, place), 4),
    }
}

/// A scalar or vector of up to four 32-bit elements in four lane words.
fn quad(s: &mut Selector, v: Value) -> Operand {
    let parts = s.parts(v);
    let words: Vec<Operand> = (0..4).map(|k| parts.get(k).copied().unwrap_or(Operand::None)).collect();
    if let Some(register) = s.out.whole_register(&words).filter(|r| s.out.class_of(*r) == Some(RegClass::vector(4))) {
        return register;
    }
    s.out.emit(Op::Tuple, Type::B128, RegClass::vector(4), words)
}
