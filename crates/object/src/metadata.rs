//! Kernel metadata: what the driver must know to launch a kernel. Stored as JSON in the object's `.heddle.kernels` section.
//!
//! # Constant bank
//! The constant bank of a launch is at most [`CONSTANT_BANK_BYTES`], of which instructions name the first [`CONSTANT_WORDS`]
//! words as operands; what is behind them is loaded (`ld.argument`). Words 0 and 1 hold the device address of the module's data
//! section; kernel arguments follow from byte [`ARGUMENTS_START`], each at its natural alignment, and behind them the code's
//! [`Literals`]. Pointers to global and constant memory are 8-byte device addresses; `__local` pointer arguments are 4-byte
//! addresses in work-group memory that the driver assigns (after the kernel's static local memory); by-value arguments are
//! their bytes.

use serde::{Deserialize, Serialize};

use super::printf::PrintfFormat;
use super::variables::Variables;
use heddle_isa::MemorySpace;
use heddle_isa::surface::{LaunchExpression, Surface};

/// First byte of the kernel arguments in the constant bank.
pub const ARGUMENTS_START: u32 = 8;
/// Words of the constant bank that operands name, from its first one on.
pub const CONSTANT_WORDS: u32 = 256;
/// Bytes of arguments that a kernel may take: as many as CUDA's did until version 12.1. OpenCL asks for 1024, and for 128 images.
pub const MOST_ARGUMENT_BYTES: u32 = 4096;
/// Size of the constant bank, in bytes: besides arguments, what the driver adds, and what aligns it.
pub const CONSTANT_BANK_BYTES: u32 = MOST_ARGUMENT_BYTES + 64;
/// Bytes of private memory that a kernel may declare a work-item.
pub const MOST_PRIVATE_BYTES: u32 = 1 << 24;
/// Bytes of local memory that a kernel may declare a work-group.
pub const MOST_LOCAL_BYTES: u32 = 1 << 28;
/// What the driver aligns local memory to that is a kernel's argument: the bytes of the longest load.
pub const LOCAL_ARGUMENT_ALIGN: u32 = 16;

/// Words of an image argument: width, height, depth, layers, channel order, channel type.
pub const IMAGE_WORDS: u32 = 6;

/// What a kernel argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKind {
    /// Pointer to `__global` memory: 8 bytes.
    Global,
    /// Pointer to `__constant` memory: 8 bytes.
    Constant,
    /// Pointer to `__local` memory whose size the host gives: 4 bytes.
    Local,
    /// By value: `size` bytes.
    Value,
    /// An image: [`IMAGE_WORDS`] words of what the `get_image_…` functions return.
    Image,
    /// A sampler: 4 bytes, the bits of clang's `CLK_…` constants.
    Sampler,
    /// Hidden, the last: address of the buffer of `printf` (8 bytes), bytes of messages it takes (4), 4 of padding.
    PrintfBuffer,
}

/// What a kernel may do with an image argument, as its source says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Access {
    /// No image.
    #[default]
    None,
    /// `read_only`, which is what images without a qualifier have.
    ReadOnly,
    /// `write_only`.
    WriteOnly,
    /// `read_write`.
    ReadWrite,
}

impl Access {
    /// Whether it is no image.
    pub fn is_none(&self) -> bool {
        *self == Access::None
    }
}

/// The qualifiers of an argument's type, as hosts ask for them: of a pointer, `const` and `volatile` are
/// those of what it points to, and `__constant` memory is `const`; of values, none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeQualifiers {
    /// `const`.
    #[serde(rename = "const", default, skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
    /// `restrict`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restrict: bool,
    /// `volatile`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volatile: bool,
    /// `pipe`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipe: bool,
}

impl TypeQualifiers {
    /// The words that OpenCL C has for them.
    pub const WORDS: [&str; 4] = ["const", "restrict", "volatile", "pipe"];

    /// Of the words among others.
    pub fn of<'a>(words: impl IntoIterator<Item = &'a str>) -> TypeQualifiers {
        let mut result = TypeQualifiers::default();
        for word in words {
            match word {
                "const" => result.constant = true,
                "restrict" => result.restrict = true,
                "volatile" => result.volatile = true,
                "pipe" => result.pipe = true,
                _ => {}
            }
        }
        result
    }

    /// The words that hold.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let holds = [self.constant, self.restrict, self.volatile, self.pipe];
        Self::WORDS.into_iter().zip(holds).filter(|(_, h)| *h).map(|(w, _)| w)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == TypeQualifiers::default()
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelArgument {
    /// Source name, if known.
    pub name: String,
    /// OpenCL C type as written, if known (`float4*`).
    pub type_name: String,
    /// Kind.
    pub kind: ArgumentKind,
    /// Byte offset in the constant bank.
    pub offset: u32,
    /// Bytes in the constant bank.
    pub size: u32,
    /// For `Local`: alignment in bytes that the pointee wants.
    pub align: u32,
    /// `restrict`: what the kernel accesses through it, it accesses through nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restrict: bool,
    /// A pointer or image that the kernel only reads, if at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// For `Image`: what the source says of its use.
    #[serde(default, skip_serializing_if = "Access::is_none")]
    pub access: Access,
    /// Qualifiers of its type in the source.
    #[serde(default, skip_serializing_if = "TypeQualifiers::is_empty")]
    pub qualifiers: TypeQualifiers,
}

/// Bytes between variables that nothing may access (checking mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redzone {
    /// Work-group or private memory.
    pub space: MemorySpace,
    /// First address: a multiple of 4.
    pub start: u32,
    /// First address behind.
    pub end: u32,
}

/// A program-scope variable that stands apart from the others (checking mode).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// First byte in the data section: a multiple of [`VARIABLE_ALIGN`].
    pub start: u32,
    /// Bytes.
    pub bytes: u32,
}

/// Where variables that stand apart begin. That of buffers: no cache line has bytes of two of them.
pub const VARIABLE_ALIGN: u32 = 256;

/// Bytes of a [`Redzone`], at least.
pub const REDZONE_BYTES: u32 = 32;

impl Redzone {
    /// A redzone behind a variable that ends at `end`.
    pub fn behind(space: MemorySpace, end: u32) -> Redzone {
        let start = end.next_multiple_of(4);
        Redzone { space, start, end: start + REDZONE_BYTES }
    }
}

/// A kernel's header: where its code is, what it needs, how it was compiled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelHeader {
    /// Kernel name.
    pub name: String,
    /// Byte offset of the first instruction in `.text`.
    pub text_offset: u64,
    /// Bytes of code.
    pub text_size: u64,
    /// Arguments.
    pub args: Vec<KernelArgument>,
    /// Static work-group memory, bytes.
    pub local_bytes: u32,
    /// Private memory a work-item, bytes.
    pub private_bytes: u32,
    /// Main vector registers a work-item names (M of REN-1).
    pub main_registers: u32,
    /// Of these, fixed registers (F of REN-1); equal to `main_registers` without renaming.
    pub fixed_registers: u32,
    /// Maximal simultaneous demand for shared registers of a warp (REN-8); 0 without renaming.
    pub shared_demand: u32,
    /// Shared registers a warp holds at most for most of its time, as the compiler predicts; decides residency, not safety.
    #[serde(default)]
    pub shared_typical: u32,
    /// What a work-group wants the L1s to keep in the loop that needs most of them; empty if that is nothing, or not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub working_sets: Vec<WorkingSet>,
    /// Surfaces, by number (G7).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<Surface>,
    /// Constants of the code that the driver puts behind the arguments.
    #[serde(default, skip_serializing_if = "Literals::is_empty")]
    pub literals: Literals,
    /// Local registers named, per cluster.
    pub local_registers: Vec<u32>,
    /// Scalar registers named.
    pub scalar_registers: u32,
    /// Predicate registers named.
    pub predicate_registers: u32,
    /// `reqd_work_group_size`.
    pub required_work_group: Option<[u32; 3]>,
    /// `work_group_size_hint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_group_hint: Option<[u32; 3]>,
    /// `vec_type_hint`, as OpenCL C spells the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_hint: Option<String>,
    /// `intel_reqd_sub_group_size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_sub_group: Option<u32>,
    /// The global size must be a multiple of the work-group size: the code rests on work-groups being whole
    /// (of the required size), or was compiled as OpenCL C before 2.0 or with `-cl-uniform-work-group-size`.
    #[serde(default)]
    pub whole_work_groups: bool,
    /// The code rests on global ids, offsets included, and sizes below 2³¹ in each dimension, as it may keep them in signed
    /// integers of 32 bits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub short_ids: bool,
    /// The code has accesses of 8 or 16 bytes of device memory that may begin at any word, for machines that perform them.
    /// Without it they have to begin at a multiple of their size, wherever the machine would let them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unaligned_vectors: bool,
    /// The code rests on every warp lying in one row of its work-group ([`KernelHeader::allows`]): another
    /// version of the kernel of the same name, for launches of that kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rows_fill_warps: bool,
    /// `ldu`s are there to leave the data L1 to other loads (K7). Where all that a launch only reads has room in it, it
    /// is the shorter way, and the driver loads the code with `ld` in their place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relieves_data_l1: bool,
    /// Bytes that nothing may access.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redzones: Vec<Redzone>,
    /// Warp size the code was compiled for.
    pub warp_size: u32,
    /// Variables of the source, if it was compiled with `-g`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Box<Variables>>,
}

/// What work-groups want an L1 to keep of an access of a loop, which comes back to its lines in the next iterations (K7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// In the uniform L1 instead of the data L1.
    #[serde(default)]
    pub uniform: bool,
    /// Bytes from one work-item to the next in each dimension, in either direction.
    pub strides: [LaunchExpression; 3],
}

impl WorkingSet {
    /// Lines of so many bytes that a work-group touches at once, by the bytes from one work-item to the next.
    pub fn lines(strides: [u32; 3], local: [u32; 3], line: u32) -> u64 {
        let along = |(size, stride): (u32, u32)| (u64::from(size) * u64::from(stride.min(line))).div_ceil(u64::from(line.max(1)));
        local.into_iter().zip(strides).map(|d| along(d).max(1)).product()
    }
}

/// Constants of a kernel's code that its instructions name in the constant bank, behind the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Literals {
    /// Byte offset of the first word in the constant bank: a multiple of 8.
    pub offset: u32,
    /// The words.
    pub words: Vec<u32>,
}

impl Literals {
    /// Where they begin behind arguments, in bytes.
    pub fn begin(args: &[KernelArgument]) -> u32 {
        end_of_arguments(args).saturating_add(7) & !7
    }

    /// Whether the code has none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word at a byte offset in the constant bank, if it is one of them.
    pub fn word(&self, offset: u32) -> Option<u32> {
        let at = offset.checked_sub(self.offset)? / 4;
        self.words.get(at as usize).copied()
    }

    /// The first byte behind them in the constant bank; 0 if there are none.
    fn end(&self) -> u64 {
        if self.is_empty() { 0 } else { u64::from(self.offset) + 4 * self.words.len() as u64 }
    }

    /// Whether they stand behind arguments, where operands can name them.
    ///
    /// # Errors
    /// Where they stand instead.
    pub fn check(&self, args: &[KernelArgument]) -> Result<(), String> {
        let nameable = 4 * CONSTANT_WORDS;
        if !self.is_empty() && (self.offset < end_of_arguments(args) || self.offset % 8 != 0) {
            return Err(format!(
                "literals at byte {} of the constant bank are not behind the arguments, at a multiple of 8",
                self.offset
            ));
        }
        if self.end() > u64::from(nameable) {
            return Err(format!("literals end behind byte {nameable} of the constant bank, the last that operands name"));
        }
        Ok(())
    }
}

/// The first byte behind arguments in the constant bank.
fn end_of_arguments(args: &[KernelArgument]) -> u32 {
    args.iter().map(|a| a.offset.saturating_add(a.size)).fold(ARGUMENTS_START, u32::max)
}

/// The object's metadata section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectMetadata {
    /// Version of this format.
    pub version: u32,
    /// Name of the machine description the code was compiled for.
    pub machine: String,
    /// Number of clusters of that machine.
    pub clusters: u32,
    /// Kernels.
    pub kernels: Vec<KernelHeader>,
    /// Offsets in the data section to be turned into addresses by the loader (64-bit places).
    pub data_relocations: Vec<u32>,
    /// Alignment of the data section.
    pub data_align: u32,
    /// Program-scope variables, by address, if nothing may access the bytes between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<Variable>,
    /// Formats of `printf`; a message has the number of its own, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printf: Vec<PrintfFormat>,
}

impl ObjectMetadata {
    /// The kernels that hosts launch, each once.
    pub fn launchable(&self) -> impl Iterator<Item = &KernelHeader> {
        self.kernels.iter().filter(|k| k.is_launchable())
    }

    /// The version of a kernel, by its number, that rests on most of what is true of a launch of `global`
    /// work-items in work-groups of `local`.
    pub fn version(&self, kernel: usize, global: [u32; 3], local: [u32; 3]) -> usize {
        let name = self.kernels.get(kernel).map(|k| &k.name);
        let fits = |k: &KernelHeader| k.rows_fill_warps && Some(&k.name) == name && k.allows(global, local);
        self.kernels.iter().position(fits).unwrap_or(kernel)
    }
}

/// What a version of a kernel is called where versions must differ: the kernel's name, and what the version rests on.
pub fn version_name(kernel: &str, rows_fill_warps: bool) -> String {
    format!("{kernel}{}", if rows_fill_warps { ".rows-fill-warps" } else { "" })
}

impl KernelHeader {
    /// The name of its symbol; versions of one kernel differ.
    pub fn symbol(&self) -> String {
        version_name(&self.name, self.rows_fill_warps)
    }

    /// Whether it makes objects of program scope that C++ constructs: it runs before the program's first launch, as one
    /// work-item, and is no kernel that a host launches.
    pub fn is_initializer(&self) -> bool {
        // clang's name for it.
        self.name.starts_with("_GLOBAL__sub_I_")
    }

    /// Whether a host launches it by its name: it makes no objects of program scope, and is no version of another kernel.
    pub fn is_launchable(&self) -> bool {
        !self.is_initializer() && !self.rows_fill_warps
    }

    /// Whether what the code rests on is true of a launch of `global` work-items in work-groups of `local`: of
    /// rows that fill warps, that each is a whole number of warps long, the last of the range included, or that
    /// work-groups have one row only.
    pub fn allows(&self, global: [u32; 3], local: [u32; 3]) -> bool {
        let whole = |warp: u32| warp > 0 && local[0] > 0 && local[0].is_multiple_of(warp) && global[0].is_multiple_of(local[0]);
        !self.rows_fill_warps || local[1..] == [1, 1] || whole(self.warp_size)
    }

    /// The attributes that its source gives it, as OpenCL C spells them, with single spaces between.
    pub fn attributes(&self) -> String {
        let sizes = |name: &str, s: &Option<[u32; 3]>| s.map(|[x, y, z]| format!("{name}({x},{y},{z})"));
        let parts = [
            sizes("reqd_work_group_size", &self.required_work_group),
            sizes("work_group_size_hint", &self.work_group_hint),
            self.vector_hint.as_ref().map(|t| format!("vec_type_hint({t})")),
            self.required_sub_group.map(|n| format!("intel_reqd_sub_group_size({n})")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// A constant bank for a launch: its literals are in it, all else is zero.
    pub fn constant_bank(&self) -> Vec<u8> {
        let end = u64::from(end_of_arguments(&self.args)).max(self.literals.end());
        let mut bank = vec![0; (end as usize).next_multiple_of(16)];
        let places = bank.chunks_exact_mut(4).skip(self.literals.offset as usize / 4);
        places.zip(&self.literals.words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
        bank
    }

    /// The arguments that a launch gives.
    pub fn visible_args(&self) -> &[KernelArgument] {
        match self.args.split_last() {
            Some((last, others)) if last.kind == ArgumentKind::PrintfBuffer => others,
            _ => &self.args,
        }
    }

    /// Byte offset of the hidden argument of `printf` in the constant bank, if the kernel prints.
    pub fn printf_argument(&self) -> Option<u32> {
        self.args.last().filter(|a| a.kind == ArgumentKind::PrintfBuffer).map(|a| a.offset)
    }
}

/// Bytes of messages that the buffer of `printf` takes unless told otherwise: what OpenCL's full profile asks for at least.
pub const PRINTF_ROOM: u32 = 1 << 20;
/// Bytes of the hidden argument of `printf`.
pub const PRINTF_ARGUMENT_BYTES: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, rows_fill_warps: bool) -> KernelHeader {
        let text = r#"{"name":"","text_offset":0,"text_size":0,"args":[],"local_bytes":0,"private_bytes":0,"main_registers":0,
            "fixed_registers":0,"shared_demand":0,"local_registers":[],"scalar_registers":0,"predicate_registers":0,
            "required_work_group":null,"warp_size":32}"#;
        KernelHeader { name: name.into(), rows_fill_warps, ..serde_json::from_str(text).unwrap() }
    }

    #[test]
    fn literals_stand_behind_the_arguments_where_operands_can_name_them() {
        let argument = |offset, size| {
            let text = format!(
                r#"{{"name":"","type_name":"","kind":"value","offset":{offset},"size":{size},"align":4,"read_only":false}}"#
            );
            serde_json::from_str::<KernelArgument>(&text).unwrap()
        };
        let args = vec![argument(8, 8), argument(16, 4)];
        assert_eq!(Literals::begin(&args), 24);
        assert_eq!(Literals::begin(&[]), ARGUMENTS_START);
        let literals = Literals { offset: 24, words: vec![1, 0x0203_0405] };
        assert_eq!(literals.check(&args), Ok(()));
        assert_eq!([20, 24, 28, 32].map(|at| literals.word(at)), [None, Some(1), Some(0x0203_0405), None]);
        let k = KernelHeader { args: args.clone(), literals, ..header("k", false) };
        let mut bank = vec![0; 32];
        bank[24] = 1;
        bank[28..].copy_from_slice(&[5, 4, 3, 2]);
        assert_eq!(k.constant_bank(), bank);
        assert!(Literals { offset: 16, words: vec![1] }.check(&args).is_err(), "an argument is there");
        assert!(Literals { offset: 28, words: vec![1] }.check(&args).is_err(), "they begin at a multiple of 8");
        let words = |count| Literals { offset: 24, words: vec![1; count] };
        assert!(words(CONSTANT_WORDS as usize - 6).check(&args).is_ok());
        assert!(words(CONSTANT_WORDS as usize - 5).check(&args).is_err(), "no operand names the last one");
        assert!(Literals { offset: u32::MAX - 7, words: vec![1; 2] }.check(&args).is_err());
        assert!(Literals::default().check(&args).is_ok());
    }

    #[test]
    fn a_version_is_for_launches_whose_warps_lie_in_rows() {
        let kernels = vec![header("other", true), header("k", false), header("k", true), header("plain", false)];
        let object = ObjectMetadata { kernels, ..Default::default() };
        let version = |global, local| object.version(1, global, local);
        assert_eq!(version([64, 8, 1], [32, 4, 1]), 2);
        assert_eq!(version([64, 7, 3], [64, 2, 2]), 2, "rows are whole where there are fewer of them");
        assert_eq!(version([48, 8, 1], [32, 4, 1]), 1, "the last work-groups have shorter rows");
        assert_eq!(version([64, 8, 1], [16, 8, 1]), 1);
        assert_eq!(version([33, 1, 1], [5, 1, 1]), 2, "one row");
        assert_eq!(version([48, 1, 1], [32, 1, 1]), 2, "one row, the last one shorter");
        assert_eq!(version([8, 1, 8], [8, 1, 2]), 1);
        assert_eq!(version([0, 0, 0], [0, 1, 2]), 1);
        assert_eq!(object.version(3, [64, 8, 1], [32, 4, 1]), 3, "it has no other version");
        let names: Vec<&str> = object.launchable().map(|k| k.name.as_str()).collect();
        assert_eq!(names, ["k", "plain"]);
    }
}
