// The features and extensions of OpenCL C that the device announces: the one list of them.
//
// `build.rs` (for the built-in library's own sources) and `crates/frontend` (for programs) include this file,
// so it has no imports and no inner documentation. What is not here is not announced, whatever clang's
// borrowed target has.

/// A feature or extension of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its macro.
    pub name: &'static str,
    /// How clang is told of it.
    pub by: By,
    /// Who may use it.
    pub of: Of,
    /// A function of the built-in library that is there because of it, mangled; empty if clang alone makes it.
    pub function: &'static str,
    /// Why the device has it.
    pub reason: &'static str,
}

/// How clang is told of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// clang knows it: `-cl-ext=+name`, which defines the macro where the language version has the feature.
    Extension,
    /// clang only declares functions where the macro is defined: `-Dname=1`, from OpenCL C 2.0 on.
    Macro,
}

/// Who may use a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Programs, and the built-in library.
    All,
    /// Programs only.
    Programs,
}

const fn feature(name: &'static str, by: By, of: Of, function: &'static str, reason: &'static str) -> Feature {
    Feature { name, by, of, function, reason }
}

/// What the device announces.
pub const FEATURES: [Feature; 29] = {
    use By::{Extension, Macro};
    use Of::{All, Programs};
    [
        feature("cl_khr_fp16", Extension, All, "_Z3expDh", "lanes compute with halves, two bytes in a register"),
        feature("cl_khr_fp64", Extension, All, "_Z3expd", "lanes compute with doubles in pairs of registers"),
        feature("__opencl_c_fp64", Extension, All, "_Z3expd", "the name of OpenCL C 3.0 for cl_khr_fp64"),
        feature("cl_khr_int64_base_atomics", Extension, All, "_Z8atom_addPU3AS1Vll", "atomic operations have 64 bits"),
        feature(
            "cl_khr_int64_extended_atomics",
            Extension,
            All,
            "_Z8atom_maxPU3AS1Vll",
            "the same for minimum, maximum, and, or, xor",
        ),
        feature("__opencl_c_subgroups", Extension, All, "_Z20sub_group_reduce_addi", "a warp is a sub-group"),
        feature("cl_khr_subgroups", Extension, All, "_Z20sub_group_reduce_addi", "the name of OpenCL C 2.0 for sub-groups"),
        // Functions of images are instructions, which selection makes of their names.
        feature("__opencl_c_images", Extension, All, "", "surfaces are read through samplers (G1, G2)"),
        feature("__opencl_c_read_write_images", Extension, All, "", "surfaces are read and written by one kernel"),
        feature("cl_khr_3d_image_writes", Extension, All, "", "surfaces have three dimensions to write to, too"),
        feature("__opencl_c_3d_image_writes", Extension, All, "", "the name of OpenCL C 3.0 for cl_khr_3d_image_writes"),
        // The library is compiled without these two: it has no variables that are written, and a function for
        // each address space.
        feature("__opencl_c_program_scope_global_variables", Extension, Programs, "", "the data section is in device memory"),
        feature("__opencl_c_generic_address_space", Extension, Programs, "", "a pass makes branches of generic pointers"),
        feature(
            "__opencl_c_atomic_order_acq_rel",
            Macro,
            All,
            "_Z22atomic_work_item_fencej12memory_order12memory_scope",
            "fences wait for the warp's accesses",
        ),
        feature(
            "__opencl_c_atomic_order_seq_cst",
            Macro,
            All,
            "_Z11atomic_loadPU3AS1VU7_Atomicf",
            "all atomic operations go to one place",
        ),
        feature(
            "__opencl_c_atomic_scope_device",
            Macro,
            All,
            "_Z11atomic_loadPU3AS1VU7_Atomicf",
            "that place is the device's second level",
        ),
        feature(
            "__opencl_c_work_group_collective_functions",
            Macro,
            All,
            "_Z21work_group_reduce_addi",
            "made of local memory and barriers",
        ),
        // The library defines these functions whatever is declared.
        feature(
            "cl_khr_subgroup_extended_types",
            Macro,
            Programs,
            "_Z20sub_group_reduce_adds",
            "the functions of sub-groups have all types",
        ),
        feature("cl_khr_subgroup_shuffle", Macro, Programs, "_Z17sub_group_shuffleij", "lanes read each other's registers"),
        feature("cl_khr_subgroup_shuffle_relative", Macro, Programs, "_Z20sub_group_shuffle_upij", "the same by distance"),
        feature("cl_khr_subgroup_rotate", Macro, Programs, "_Z16sub_group_rotateii", "the same around the sub-group"),
        feature("cl_khr_subgroup_ballot", Macro, Programs, "_Z16sub_group_balloti", "a bit a lane goes to a scalar register"),
        feature("cl_khr_subgroup_non_uniform_vote", Macro, Programs, "_Z15sub_group_electv", "ballots count active lanes only"),
        feature(
            "cl_khr_subgroup_non_uniform_arithmetic",
            Macro,
            Programs,
            "_Z32sub_group_non_uniform_reduce_addi",
            "made of ballots and shuffles",
        ),
        feature("cl_khr_extended_bit_ops", Macro, Programs, "_Z11bit_reversei", "shifts, masks and an instruction that reverses"),
        feature("cl_khr_integer_dot_product", Macro, Programs, "_Z3dotDv4_cS_", "made of products and sums"),
        feature("__opencl_c_integer_dot_product_input_4x8bit", Macro, Programs, "_Z3dotDv4_cS_", "of four bytes each"),
        feature(
            "__opencl_c_integer_dot_product_input_4x8bit_packed",
            Macro,
            Programs,
            "_Z20dot_4x8packed_ss_intjj",
            "the same with the bytes in a word",
        ),
        feature("cl_khr_subgroup_clustered_reduce", Macro, Programs, "_Z30sub_group_clustered_reduce_addij", "made of shuffles"),
    ]
};

/// The features that programs, or the built-in library's own sources, are compiled with.
fn features_of(library: bool) -> impl Iterator<Item = &'static Feature> {
    FEATURES.iter().filter(move |f| !library || f.of == Of::All)
}

/// clang's option for the features that it knows.
pub fn extensions(library: bool) -> String {
    let names: Vec<String> = features_of(library).filter(|f| f.by == By::Extension).map(|f| format!("+{}", f.name)).collect();
    format!("-cl-ext={}", names.join(","))
}

/// The definitions of the others.
pub fn definitions(library: bool) -> impl Iterator<Item = String> {
    features_of(library).filter(|f| f.by == By::Macro).map(|f| format!("-D{}=1", f.name))
}
