//! Images and samplers: `read_image…`, `write_image…` and the `get_image_…` queries (G1, G2).
//!
//! An image is named directly by the kernel's argument: OpenCL C lets no image be chosen at run time. A sampler is an argument or a constant.

use heddle_llvm_passes::ir::{self, Value};

use super::{Parts, Selector, constants};
use heddle_isa::surface::{Surface, SurfaceKind};
use heddle_isa::{Inst, Op, Operand, Type};
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

impl Selector<'_> {
    /// Selects a call of an image function; false if it is none.
    pub(super) fn image_call(&mut self, i: Value, name: &str) -> bool {
        if name == "__translate_sampler_initializer" {
            let bits = constants::sign_extended(i.operand(0)).unwrap_or(0) as u32;
            self.set1(i, Operand::Immediate(bits));
            self.samplers.insert(i, Operand::Immediate(bits));
            return true;
        }
        let Some((function, image)) = image_function(name) else { return false };
        let Some(argument) = ir::params(self.value).iter().position(|p| *p == i.operand(0)) else {
            self.error(Some(i), "an image that is no argument of the kernel is not supported; pass it as an argument");
            return true;
        };
        if image.contains("depth") || image.contains("msaa") {
            self.error(Some(i), format!("`{image}_t` is not supported"));
            return true;
        }
        let offset = self.f.args[argument].offset;
        let word = |n: u32| Operand::Constant((offset / 4 + n) as u8);
        match function {
            Function::Word(n) => {
                let wide = self.leaf(i).words() == 2;
                let value = if wide { self.pair(word(n), Operand::Immediate(0)) } else { word(n) };
                self.low.insert(i, word(n));
                self.set1(i, value);
            }
            Function::Dimensions => {
                let count = super::types::leaf_count(i.ty()) as u32;
                let parts: Parts = (0..count).map(|n| if n < 3 { word(n) } else { Operand::Immediate(0) }).collect();
                self.set(i, parts);
            }
            Function::Read(ty) => self.read_image(i, ty, argument),
            Function::Write(ty) => {
                let coordinates = self.quad(i.operand(1));
                let texel = self.quad(i.operand(2));
                let mut inst = Inst::new(Op::ImageStore, ty, Operand::None, [coordinates, texel]);
                inst.imm = 0x100 | 0x200 | self.image_surface(argument);
                self.push(inst);
            }
        }
        true
    }

    fn read_image(&mut self, i: Value, ty: Type, argument: usize) {
        // With a sampler: image, sampler, coordinates.
        let sampled = super::types::is_pointer(i.operand(1).ty());
        let place = i.operand(if sampled { 2 } else { 1 });
        let sampler = if sampled { self.sampler(i) } else { Operand::Immediate(0x10) };
        let coordinates = self.quad(place);
        let integer = !self.leaf(place).float;
        let dst = self.f.add_vreg(RegClass::vector(4));
        let mut inst = Inst::new(Op::Sample, ty, Operand::virt(dst), [sampler, coordinates]);
        inst.imm = 0x100 | self.image_surface(argument) | i32::from(integer) << 9 | i32::from(!sampled) << 10;
        self.push(inst);
        self.set(i, (0..4).map(|w| Operand::virt_word(dst, w)).collect());
    }

    fn sampler(&mut self, i: Value) -> Operand {
        let s = i.operand(1);
        if let Some(op) = self.samplers.get(&s) {
            return *op;
        }
        match ir::params(self.value).iter().position(|p| *p == s) {
            Some(argument) => Operand::Constant((self.f.args[argument].offset / 4) as u8),
            None => {
                self.error(Some(i), "a sampler that is neither an argument of the kernel nor a constant");
                Operand::Immediate(0x10)
            }
        }
    }

    fn image_surface(&mut self, argument: usize) -> i32 {
        let zero = Default::default;
        let surface =
            Surface { argument: argument as u32, kind: SurfaceKind::TypedImage, strides: [zero(), zero(), zero()], base: zero() };
        i32::from(self.add_surface(surface))
    }

    /// A scalar or vector of up to four 32-bit elements in four lane words.
    fn quad(&mut self, v: Value) -> Operand {
        let parts = self.parts(v);
        let words: Vec<Operand> = (0..4).map(|k| parts.get(k).copied().unwrap_or(Operand::None)).collect();
        if let Some((r, 0)) = words[0].as_virt() {
            if self.f.vregs[r] == RegClass::vector(4)
                && words.iter().enumerate().all(|(k, w)| *w == Operand::virt_word(r, k as u8))
            {
                return words[0];
            }
        }
        self.emit(Op::Tuple, Type::B128, RegClass::vector(4), words)
    }
}
