//! Kernel arguments: their kinds and places in the constant bank, and what the driver may know of them.

use heddle_llvm_passes::ir::{Type, Value, address_space, function, metadata};
use heddle_llvm_passes::{printf, surfaces};
use heddle_object::metadata::{
    ARGUMENTS_START, Access, ArgumentKind, IMAGE_WORDS, KernelArgument, LOCAL_ARGUMENT_ALIGN, MOST_ARGUMENT_BYTES,
    PRINTF_ARGUMENT_BYTES, TypeQualifiers,
};
use rustc_hash::FxHashMap;

use crate::Selector;

/// Where a kernel's arguments are.
#[derive(Default)]
pub(crate) struct Arguments {
    /// Byte offset of each argument in the constant bank.
    pub offsets: FxHashMap<Value, u32>,
    /// Structures passed by value.
    pub by_value: FxHashMap<Value, ByValue>,
    /// Byte offset of the hidden argument of `printf`, if the kernel prints.
    pub printf: u32,
}

/// A structure argument passed by value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByValue {
    pub offset: u32,
    pub size: u32,
    pub align: u32,
    /// Byte address of a copy in private memory, if the kernel writes the structure or its address escapes.
    pub copy: Option<u32>,
}

impl Arguments {
    /// Byte offset of an argument in the constant bank.
    pub fn offset(&self, argument: Value) -> u32 {
        self.offsets.get(&argument).copied().unwrap_or(0)
    }
}

/// What a parameter takes in the constant bank.
struct Place {
    size: u32,
    align: u32,
    kind: ArgumentKind,
}

/// Lays out the constant bank and describes each argument.
pub(crate) fn declare_arguments(s: &mut Selector) {
    let names = strings(s.cx.kernel, "kernel_arg_name");
    let type_names = strings(s.cx.kernel, "kernel_arg_type");
    // Those behind `typedef`, where they are known.
    let base_types = strings(s.cx.kernel, "kernel_arg_base_type");
    let base_types = if base_types.is_empty() { type_names.clone() } else { base_types };
    let access = strings(s.cx.kernel, "kernel_arg_access_qual");
    let qualifiers = strings(s.cx.kernel, "kernel_arg_type_qual");
    let read_only = read_only(s.cx.kernel, &base_types);
    let mut offset = ARGUMENTS_START;
    for (i, param) in s.cx.params.clone().into_iter().enumerate() {
        let by_value = function::by_value_type(s.cx.kernel, i as u32).map(Type);
        let type_name = type_names.get(i).cloned().unwrap_or_default();
        let base_type = base_types.get(i).map(String::as_str).unwrap_or_default();
        let Place { size, align, kind } = place(s, i, by_value, base_type);
        // Launches know an image's shape by its type.
        let type_name = if kind == ArgumentKind::Image { base_type.to_string() } else { type_name };
        offset = offset.next_multiple_of(align.clamp(1, 16));
        s.out.f.args.push(KernelArgument {
            name: names.get(i).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| param.name()),
            type_name,
            kind,
            offset,
            size,
            align: if kind == ArgumentKind::Local { LOCAL_ARGUMENT_ALIGN } else { align },
            restrict: by_value.is_none() && function::has_attribute(param, "noalias"),
            read_only: read_only.contains(&(i as u32)),
            access: access.get(i).and_then(|a| a.parse().ok()).unwrap_or_default(),
            qualifiers: qualifiers.get(i).map(|q| TypeQualifiers::of(q.split(' '))).unwrap_or_default(),
        });
        s.arguments.offsets.insert(param, offset);
        if by_value.is_some() {
            s.arguments.by_value.insert(param, ByValue { offset, size, align, copy: None });
        }
        offset += size;
    }
    let bytes = offset - s.out.f.args.first().map_or(offset, |a| a.offset);
    if bytes > MOST_ARGUMENT_BYTES {
        let name = &s.out.f.name;
        s.report.kernel_error(format!("kernel `{name}` takes {bytes} bytes of arguments; {MOST_ARGUMENT_BYTES} are the most"));
    }
    if printf::is_used_in(s.cx.kernel) {
        declare_printf(s, offset);
    }
}

/// The strings of a kind of metadata that clang attaches to kernels, one an argument.
fn strings(kernel: Value, kind: &str) -> Vec<String> {
    let operands = metadata::of_function(kernel, kind).unwrap_or_default();
    operands.into_iter().map(|v| String::from_utf8_lossy(&metadata::string(v)).into_owned()).collect()
}

/// Numbers of the arguments whose memory the kernel only reads.
fn read_only(kernel: Value, type_names: &[String]) -> Vec<u32> {
    let unwritten = |surface: &surfaces::Surface| match surface.kind() {
        surfaces::Kind::TypedImage => type_names.get(surface.argument as usize).is_none_or(|t| !t.starts_with("image")),
        kind => !kind.is_written(),
    };
    surfaces::analyze(kernel).iter().filter(|s| unwritten(s)).map(|s| s.argument).collect()
}

fn place(s: &mut Selector, i: usize, by_value: Option<Type>, type_name: &str) -> Place {
    let place = |size, align, kind| Place { size, align, kind };
    let param = s.cx.params[i];
    let is_image = type_name.starts_with("image") && type_name.ends_with("_t");
    if by_value.is_none() && is_image {
        return place(4 * IMAGE_WORDS, 4, ArgumentKind::Image);
    }
    if by_value.is_none() && type_name == "sampler_t" {
        return place(4, 4, ArgumentKind::Sampler);
    }
    if by_value.is_some() || !param.is_pointer() {
        let ty = by_value.unwrap_or(param.type_of());
        // A structure with a packed one in it has a type that is aligned to bytes, and loads that are not.
        let promised = if by_value.is_some() { function::parameter_alignment(s.cx.kernel, i as u32) } else { 1 };
        let align = s.cx.layout.alignment(ty).max(promised);
        return place(s.cx.layout.size(ty) as u32, align, ArgumentKind::Value);
    }
    match param.address_space() {
        address_space::GLOBAL => place(8, 8, ArgumentKind::Global),
        address_space::CONSTANT => place(8, 8, ArgumentKind::Constant),
        address_space::LOCAL => place(4, 4, ArgumentKind::Local),
        other => {
            let name = if type_name.is_empty() { String::new() } else { format!(" (`{type_name}`)") };
            s.report.kernel_error(format!(
                "argument {i}{name} of kernel `{}` is a pointer to address space {other}; \
                 kernels take global, constant and local pointers",
                s.out.f.name
            ));
            place(8, 8, ArgumentKind::Value)
        }
    }
}

/// The hidden argument of `printf` behind the others.
fn declare_printf(s: &mut Selector, end: u32) {
    let offset = end.next_multiple_of(8);
    s.arguments.printf = offset;
    s.out.f.args.push(KernelArgument {
        name: "printf".into(),
        type_name: String::new(),
        kind: ArgumentKind::PrintfBuffer,
        offset,
        size: PRINTF_ARGUMENT_BYTES,
        align: 8,
        restrict: false,
        read_only: false,
        access: Access::None,
        qualifiers: TypeQualifiers::default(),
    });
}
