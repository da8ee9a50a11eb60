//! Samplers.

use opencl_sys::*;

use super::context::Context;
use crate::object::{Kind, Ref};

/// A sampler.
pub struct Sampler {
    /// Its context.
    pub context: Ref<Context>,
    /// Whether coordinates are from 0 to 1.
    pub normalized: bool,
    /// What happens outside the image.
    pub addressing: cl_addressing_mode,
    /// How texels are chosen.
    pub filter: cl_filter_mode,
    /// The properties as given, with the zero at the end; none for `clCreateSampler`.
    pub array: Option<Vec<cl_sampler_properties>>,
}

impl Kind for Sampler {
    const NAME: &'static str = "sampler";
    const INVALID: cl_int = CL_INVALID_SAMPLER;
}

impl Sampler {
    /// The value that kernels get: the bits of OpenCL C's `CLK_…` constants.
    pub fn bits(&self) -> u32 {
        let addressing = match self.addressing {
            CL_ADDRESS_CLAMP_TO_EDGE => 2,
            CL_ADDRESS_CLAMP => 4,
            CL_ADDRESS_REPEAT => 6,
            CL_ADDRESS_MIRRORED_REPEAT => 8,
            _ => 0,
        };
        let filter = if self.filter == CL_FILTER_LINEAR { 0x20 } else { 0x10 };
        u32::from(self.normalized) | addressing | filter
    }
}
