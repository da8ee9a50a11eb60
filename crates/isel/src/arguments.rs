//! Kernel arguments: their kinds and places in the constant bank, and what the driver may know of them.

use heddle_llvm_passes::ir::{self, metadata};
use heddle_llvm_passes::{printf, surfaces};
use inkwell::llvm_sys::core::*;

use super::{Selector, address, types};
use heddle_object::metadata::{
    ARGUMENTS_START, ArgumentKind, CONSTANT_BANK_BYTES, IMAGE_WORDS, KernelArgument, MOST_LOCAL_BYTES, MOST_PRIVATE_BYTES,
    PRINTF_ARGUMENT_BYTES,
};

impl Selector<'_> {
    /// Lays out the constant bank and describes each argument.
    pub(super) fn declare_arguments(&mut self) {
        let strings = |name: &str| -> Vec<String> {
            let operands = metadata::of_function(self.value, name).unwrap_or_default();
            operands.into_iter().map(|v| String::from_utf8_lossy(&metadata::string(v)).into_owned()).collect()
        };
        let names = strings("kernel_arg_name");
        let type_names = strings("kernel_arg_type");
        let surfaces = surfaces::analyze(self.value);
        let unwritten = |s: &&surfaces::Surface| match s.kind() {
            surfaces::Kind::TypedImage => type_names.get(s.argument as usize).is_none_or(|t| !t.starts_with("image")),
            kind => !kind.is_written(),
        };
        let read_only: Vec<u32> = surfaces.iter().filter(unwritten).map(|s| s.argument).collect();
        let mut offset = ARGUMENTS_START;
        for (i, param) in ir::params(self.value).into_iter().enumerate() {
            let by_value = self.by_value_type(i as u32);
            let (size, align, kind) = match by_value {
                Some(ty) => (types::alloc_size(ty), types::abi_align(ty), ArgumentKind::Value),
                None if type_names.get(i).is_some_and(|t| t.starts_with("image") && t.ends_with("_t")) => {
                    (4 * IMAGE_WORDS, 4, ArgumentKind::Image)
                }
                None if type_names.get(i).is_some_and(|t| t == "sampler_t") => (4, 4, ArgumentKind::Sampler),
                None if types::is_pointer(param.ty()) => match param.address_space() {
                    1 => (8, 8, ArgumentKind::Global),
                    4 => (8, 8, ArgumentKind::Constant),
                    3 => (4, 4, ArgumentKind::Local),
                    other => {
                        let name = type_names.get(i).filter(|n| !n.is_empty()).map(|n| format!(" (`{n}`)")).unwrap_or_default();
                        self.kernel_error(format!("argument {i}{name} of kernel `{}` is a pointer to address space {other}; kernels take global, constant and local pointers", self.f.name));
                        (8, 8, ArgumentKind::Value)
                    }
                },
                None => (types::alloc_size(param.ty()), types::abi_align(param.ty()), ArgumentKind::Value),
            };
            offset = offset.next_multiple_of(align.clamp(1, 16));
            let name = names.get(i).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| param.name());
            self.f.args.push(KernelArgument {
                name,
                type_name: type_names.get(i).cloned().unwrap_or_default(),
                kind,
                offset,
                size,
                align: if kind == ArgumentKind::Local { 16 } else { align },
                restrict: self.has_attribute(i as u32, c"noalias"),
                read_only: read_only.contains(&(i as u32)),
            });
            self.arguments.insert(param, offset);
            if by_value.is_some() {
                self.by_value.insert(param, address::ByValue { offset, size, align, copy: None });
            }
            offset += size;
        }
        if printf::is_used_in(self.value) {
            offset = offset.next_multiple_of(8);
            self.printf = offset;
            self.f.args.push(KernelArgument {
                name: "printf".into(),
                type_name: String::new(),
                kind: ArgumentKind::PrintfBuffer,
                offset,
                size: PRINTF_ARGUMENT_BYTES,
                align: 8,
                restrict: false,
                read_only: false,
            });
            offset += PRINTF_ARGUMENT_BYTES;
        }
        if offset > CONSTANT_BANK_BYTES {
            self.kernel_error(format!(
                "kernel `{}` takes {} bytes of arguments; the constant bank has {}",
                self.f.name,
                offset - ARGUMENTS_START,
                CONSTANT_BANK_BYTES - ARGUMENTS_START
            ));
        }
    }

    /// What the kernel's variables need must be there.
    pub(super) fn check_memory(&mut self) -> bool {
        let sizes = [
            ("private memory a work-item", self.private_bytes, MOST_PRIVATE_BYTES),
            ("local memory a work-group", self.local_bytes, MOST_LOCAL_BYTES),
        ];
        for (what, bytes, most) in sizes.into_iter().filter(|(_, bytes, most)| *bytes > u64::from(*most)) {
            self.kernel_error(format!("kernel `{}` needs {bytes} bytes of {what}; at most {most} are possible", self.f.name));
        }
        self.private_bytes <= MOST_PRIVATE_BYTES.into() && self.local_bytes <= MOST_LOCAL_BYTES.into()
    }

    /// Whether a parameter has an attribute.
    fn has_attribute(&self, i: u32, name: &std::ffi::CStr) -> bool {
        // SAFETY: reads an attribute of a live function.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
            !LLVMGetEnumAttributeAtIndex(self.value.0, i + 1, kind).is_null()
        }
    }
}
