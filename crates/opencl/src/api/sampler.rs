//! Samplers.

use std::ffi::c_void;

use opencl_sys::*;

use super::property_list;
use crate::core::context::Context;
use crate::core::sampler::Sampler;
use crate::entry::{made, status};
use crate::error::{Outcome, ensure, fail};
use crate::info::{Answer, Room, unknown};
use crate::object::{self, Object};

fn create(sampler: Sampler) -> Outcome<*mut c_void> {
    let modes = [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];
    ensure(modes.contains(&sampler.addressing), CL_INVALID_VALUE, "there is no such addressing mode")?;
    let filters = [CL_FILTER_NEAREST, CL_FILTER_LINEAR];
    ensure(filters.contains(&sampler.filter), CL_INVALID_VALUE, "there is no such filter mode")?;
    Ok(object::give(Object::new(sampler)))
}

pub unsafe extern "C" fn clCreateSampler(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
    errcode_ret: *mut cl_int,
) -> cl_sampler {
    made("clCreateSampler", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        let truth = normalized_coords == CL_TRUE || normalized_coords == CL_FALSE;
        ensure(truth, CL_INVALID_VALUE, "normalized_coords is no truth value")?;
        let normalized = normalized_coords != CL_FALSE;
        create(Sampler { context, normalized, addressing: addressing_mode, filter: filter_mode, array: None })
    })
}

pub unsafe extern "C" fn clCreateSamplerWithProperties(
    context: cl_context,
    sampler_properties: *const cl_sampler_properties,
    errcode_ret: *mut cl_int,
) -> cl_sampler {
    made("clCreateSamplerWithProperties", errcode_ret, || {
        let context = object::get::<Context>(context)?;
        let array = property_list(sampler_properties);
        let (mut normalized, mut addressing, mut filter) = (true, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
        let mut seen = Vec::new();
        for pair in array.chunks_exact(2) {
            let value = pair[1];
            ensure(!seen.contains(&pair[0]), CL_INVALID_VALUE, "a property is there twice")?;
            seen.push(pair[0]);
            let number = cl_uint::try_from(value).unwrap_or(cl_uint::MAX);
            match pair[0] as cl_uint {
                CL_SAMPLER_NORMALIZED_COORDS => {
                    ensure(number <= 1, CL_INVALID_VALUE, "CL_SAMPLER_NORMALIZED_COORDS is no truth value")?;
                    normalized = number != 0;
                }
                CL_SAMPLER_ADDRESSING_MODE => addressing = number,
                CL_SAMPLER_FILTER_MODE => filter = number,
                name => return fail(CL_INVALID_VALUE, format!("there is no property {name:#x} of samplers here")),
            }
        }
        create(Sampler { context, normalized, addressing, filter, array: Some(array) })
    })
}

pub unsafe extern "C" fn clRetainSampler(sampler: cl_sampler) -> cl_int {
    status("clRetainSampler", || object::retain::<Sampler>(sampler))
}

pub unsafe extern "C" fn clReleaseSampler(sampler: cl_sampler) -> cl_int {
    status("clReleaseSampler", || object::release::<Sampler>(sampler).map(drop))
}

pub unsafe extern "C" fn clGetSamplerInfo(
    sampler: cl_sampler,
    param_name: cl_sampler_info,
    param_value_size: usize,
    param_value: *mut c_void,
    param_value_size_ret: *mut usize,
) -> cl_int {
    status("clGetSamplerInfo", || {
        let sampler = object::get::<Sampler>(sampler)?;
        let answer = match param_name {
            CL_SAMPLER_REFERENCE_COUNT => Answer::of(sampler.references()),
            CL_SAMPLER_CONTEXT => Answer::of(object::queried_handle(&sampler.context)),
            CL_SAMPLER_NORMALIZED_COORDS => Answer::truth(sampler.normalized),
            CL_SAMPLER_ADDRESSING_MODE => Answer::of(sampler.addressing),
            CL_SAMPLER_FILTER_MODE => Answer::of(sampler.filter),
            CL_SAMPLER_PROPERTIES => sampler.array.as_ref().map_or_else(Answer::empty, |a| Answer::all(a)),
            _ => unknown(param_name)?,
        };
        Room::new(param_value_size, param_value, param_value_size_ret).put(&answer)
    })
}
