//! Errors of entry points: the specification's code, and a sentence for whoever debugs a program.

use std::borrow::Cow;

use opencl_sys::cl_int;

/// Why an entry point refuses.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// The specification's code.
    pub code: cl_int,
    /// What was wrong, for `--check=api`.
    pub why: Cow<'static, str>,
}

/// What an entry point's work comes to.
pub type Outcome<T = ()> = Result<T, ApiError>;

/// An error.
pub fn error(code: cl_int, why: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError { code, why: why.into() }
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn fail<T>(code: cl_int, why: impl Into<Cow<'static, str>>) -> Outcome<T> {
    Err(error(code, why))
}

/// Refuses if a condition does not hold.
///
/// # Errors
/// The code and the sentence.
pub fn ensure(holds: bool, code: cl_int, why: &'static str) -> Outcome {
    if holds { Ok(()) } else { fail(code, why) }
}

/// The name of an error code in the specification.
pub fn name(code: cl_int) -> &'static str {
    NAMES.iter().find(|(c, _)| *c == code).map_or("an unknown error", |(_, n)| n)
}

macro_rules! names {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[(cl_int, &str)] = &[$((opencl_sys::$name, stringify!($name))),*];
    };
}

names![
    CL_SUCCESS,
    CL_DEVICE_NOT_FOUND,
    CL_DEVICE_NOT_AVAILABLE,
    CL_COMPILER_NOT_AVAILABLE,
    CL_MEM_OBJECT_ALLOCATION_FAILURE,
    CL_OUT_OF_RESOURCES,
    CL_OUT_OF_HOST_MEMORY,
    CL_PROFILING_INFO_NOT_AVAILABLE,
    CL_MEM_COPY_OVERLAP,
    CL_IMAGE_FORMAT_MISMATCH,
    CL_IMAGE_FORMAT_NOT_SUPPORTED,
    CL_BUILD_PROGRAM_FAILURE,
    CL_MAP_FAILURE,
    CL_MISALIGNED_SUB_BUFFER_OFFSET,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    CL_COMPILE_PROGRAM_FAILURE,
    CL_LINKER_NOT_AVAILABLE,
    CL_LINK_PROGRAM_FAILURE,
    CL_DEVICE_PARTITION_FAILED,
    CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
    CL_INVALID_VALUE,
    CL_INVALID_DEVICE_TYPE,
    CL_INVALID_PLATFORM,
    CL_INVALID_DEVICE,
    CL_INVALID_CONTEXT,
    CL_INVALID_QUEUE_PROPERTIES,
    CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_HOST_PTR,
    CL_INVALID_MEM_OBJECT,
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
    CL_INVALID_IMAGE_SIZE,
    CL_INVALID_SAMPLER,
    CL_INVALID_BINARY,
    CL_INVALID_BUILD_OPTIONS,
    CL_INVALID_PROGRAM,
    CL_INVALID_PROGRAM_EXECUTABLE,
    CL_INVALID_KERNEL_NAME,
    CL_INVALID_KERNEL_DEFINITION,
    CL_INVALID_KERNEL,
    CL_INVALID_ARG_INDEX,
    CL_INVALID_ARG_VALUE,
    CL_INVALID_ARG_SIZE,
    CL_INVALID_KERNEL_ARGS,
    CL_INVALID_WORK_DIMENSION,
    CL_INVALID_WORK_GROUP_SIZE,
    CL_INVALID_WORK_ITEM_SIZE,
    CL_INVALID_GLOBAL_OFFSET,
    CL_INVALID_EVENT_WAIT_LIST,
    CL_INVALID_EVENT,
    CL_INVALID_OPERATION,
    CL_INVALID_GL_OBJECT,
    CL_INVALID_BUFFER_SIZE,
    CL_INVALID_MIP_LEVEL,
    CL_INVALID_GLOBAL_WORK_SIZE,
    CL_INVALID_PROPERTY,
    CL_INVALID_IMAGE_DESCRIPTOR,
    CL_INVALID_COMPILER_OPTIONS,
    CL_INVALID_LINKER_OPTIONS,
    CL_INVALID_DEVICE_PARTITION_COUNT,
    CL_INVALID_PIPE_SIZE,
    CL_INVALID_DEVICE_QUEUE,
    CL_INVALID_SPEC_ID,
    CL_MAX_SIZE_RESTRICTION_EXCEEDED,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_the_specification() {
        assert_eq!(name(-30), "CL_INVALID_VALUE");
        assert_eq!(name(-14), "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST");
        let mut codes: Vec<cl_int> = NAMES.iter().map(|(c, _)| *c).collect();
        codes.dedup();
        assert_eq!(codes.len(), NAMES.len());
    }
}
