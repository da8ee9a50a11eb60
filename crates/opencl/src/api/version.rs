//! The version and the extensions that platform and devices announce.

use heddle_frontend::features::FEATURES;
use opencl_sys::*;

use crate::info::Answer;

/// What `CL_PLATFORM_VERSION` and `CL_DEVICE_VERSION` say.
pub const VERSION: &str = concat!("OpenCL 3.0 Heddle ", env!("CARGO_PKG_VERSION"));
/// `CL_MAKE_VERSION(3, 0, 0)`.
pub const VERSION_NUMBER: cl_version = 3 << 22;

/// Extensions of the platform.
const PLATFORM_EXTENSIONS: [&str; 2] = ["cl_khr_icd", "cl_khr_extended_versioning"];

/// Extensions of OpenCL C that each device has.
const ALWAYS: [&str; 5] = [
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
];

/// Extensions of the programming interface.
const INTERFACE: [&str; 4] =
    ["cl_khr_create_command_queue", "cl_khr_il_program", "cl_khr_suggested_local_work_size", "cl_arm_printf"];

/// All extensions. Sub-groups are announced as OpenCL 3.0 does it, by their feature and number: the extension of
/// their name promises that they progress independently, which warps that wait for each other do not.
pub fn all_extensions() -> Vec<&'static str> {
    let promised = |n: &&str| n.starts_with("cl_khr_") && *n != "cl_khr_subgroups";
    let of_language = FEATURES.iter().map(|f| f.name).filter(promised);
    let interface = INTERFACE.into_iter().filter(|n| *n != "cl_khr_il_program" || !il_minors().is_empty());
    PLATFORM_EXTENSIONS.into_iter().chain(ALWAYS).chain(interface).chain(of_language).collect()
}

/// Names of extensions with their versions: 1.0.0, but for the dot product, whose second has what says of how many bits its
/// inputs are.
pub fn versioned(names: &[&str]) -> Answer {
    let one = |name: &&str| named(name, if *name == "cl_khr_integer_dot_product" { 2 << 22 } else { 1 << 22 });
    Answer::all(&names.iter().map(one).collect::<Vec<_>>())
}

/// A name with a version.
pub fn named(text: &str, version: cl_version) -> cl_name_version {
    let mut name = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
    let room = name.len() - 1;
    for (to, from) in name.iter_mut().zip(text.bytes().take(room)) {
        *to = from;
    }
    cl_name_version { version, name }
}

/// The versions 1.x of SPIR-V that programs may be in: those that each translator reads; none if there is no translator.
pub fn il_minors() -> std::ops::Range<u32> {
    if heddle_frontend::translate::translator().is_some() { 0..5 } else { 0..0 }
}
