//! The table of entry points behind every handle, in the order of `cl_icd.h`, in which no place is empty; and
//! the functions that the library exports, through which loaders come to it.

use std::ffi::{c_char, c_void};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{cl_int, cl_platform_id, cl_platform_info, cl_uint};

use crate::api::*;
use crate::object;

/// The table.
static DISPATCH: cl_icd_dispatch = cl_icd_dispatch {
    clGetPlatformIDs: Some(platform::clGetPlatformIDs),
    clGetPlatformInfo: Some(platform::clGetPlatformInfo),
    clGetDeviceIDs: Some(device::clGetDeviceIDs),
    clGetDeviceInfo: Some(device::clGetDeviceInfo),
    clCreateContext: Some(context::clCreateContext),
    clCreateContextFromType: Some(context::clCreateContextFromType),
    clRetainContext: Some(context::clRetainContext),
    clReleaseContext: Some(context::clReleaseContext),
    clGetContextInfo: Some(context::clGetContextInfo),
    clCreateCommandQueue: Some(queue::clCreateCommandQueue),
    clRetainCommandQueue: Some(queue::clRetainCommandQueue),
    clReleaseCommandQueue: Some(queue::clReleaseCommandQueue),
    clGetCommandQueueInfo: Some(queue::clGetCommandQueueInfo),
    clSetCommandQueueProperty: Some(queue::clSetCommandQueueProperty),
    clCreateBuffer: Some(buffer::clCreateBuffer),
    clCreateImage2D: Some(image::clCreateImage2D),
    clCreateImage3D: Some(image::clCreateImage3D),
    clRetainMemObject: Some(buffer::clRetainMemObject),
    clReleaseMemObject: Some(buffer::clReleaseMemObject),
    clGetSupportedImageFormats: Some(image::clGetSupportedImageFormats),
    clGetMemObjectInfo: Some(buffer::clGetMemObjectInfo),
    clGetImageInfo: Some(image::clGetImageInfo),
    clCreateSampler: Some(sampler::clCreateSampler),
    clRetainSampler: Some(sampler::clRetainSampler),
    clReleaseSampler: Some(sampler::clReleaseSampler),
    clGetSamplerInfo: Some(sampler::clGetSamplerInfo),
    clCreateProgramWithSource: Some(program::clCreateProgramWithSource),
    clCreateProgramWithBinary: Some(program::clCreateProgramWithBinary),
    clRetainProgram: Some(program::clRetainProgram),
    clReleaseProgram: Some(program::clReleaseProgram),
    clBuildProgram: Some(program::clBuildProgram),
    clUnloadCompiler: Some(platform::clUnloadCompiler),
    clGetProgramInfo: Some(program::clGetProgramInfo),
    clGetProgramBuildInfo: Some(program::clGetProgramBuildInfo),
    clCreateKernel: Some(kernel::clCreateKernel),
    clCreateKernelsInProgram: Some(kernel::clCreateKernelsInProgram),
    clRetainKernel: Some(kernel::clRetainKernel),
    clReleaseKernel: Some(kernel::clReleaseKernel),
    clSetKernelArg: Some(kernel::clSetKernelArg),
    clGetKernelInfo: Some(kernel::clGetKernelInfo),
    clGetKernelWorkGroupInfo: Some(kernel::clGetKernelWorkGroupInfo),
    clWaitForEvents: Some(event::clWaitForEvents),
    clGetEventInfo: Some(event::clGetEventInfo),
    clRetainEvent: Some(event::clRetainEvent),
    clReleaseEvent: Some(event::clReleaseEvent),
    clGetEventProfilingInfo: Some(event::clGetEventProfilingInfo),
    clFlush: Some(queue::clFlush),
    clFinish: Some(queue::clFinish),
    clEnqueueReadBuffer: Some(transfer::clEnqueueReadBuffer),
    clEnqueueWriteBuffer: Some(transfer::clEnqueueWriteBuffer),
    clEnqueueCopyBuffer: Some(transfer::clEnqueueCopyBuffer),
    clEnqueueReadImage: Some(image::clEnqueueReadImage),
    clEnqueueWriteImage: Some(image::clEnqueueWriteImage),
    clEnqueueCopyImage: Some(image::clEnqueueCopyImage),
    clEnqueueCopyImageToBuffer: Some(image::clEnqueueCopyImageToBuffer),
    clEnqueueCopyBufferToImage: Some(image::clEnqueueCopyBufferToImage),
    clEnqueueMapBuffer: Some(map::clEnqueueMapBuffer),
    clEnqueueMapImage: Some(map::clEnqueueMapImage),
    clEnqueueUnmapMemObject: Some(map::clEnqueueUnmapMemObject),
    clEnqueueNDRangeKernel: Some(launch::clEnqueueNDRangeKernel),
    clEnqueueTask: Some(launch::clEnqueueTask),
    clEnqueueNativeKernel: Some(launch::clEnqueueNativeKernel),
    clEnqueueMarker: Some(event::clEnqueueMarker),
    clEnqueueWaitForEvents: Some(event::clEnqueueWaitForEvents),
    clEnqueueBarrier: Some(event::clEnqueueBarrier),
    clGetExtensionFunctionAddress: Some(platform::clGetExtensionFunctionAddress),
    clCreateFromGLBuffer: Some(unsupported::clCreateFromGLBuffer),
    clCreateFromGLTexture2D: Some(unsupported::clCreateFromGLTexture2D),
    clCreateFromGLTexture3D: Some(unsupported::clCreateFromGLTexture3D),
    clCreateFromGLRenderbuffer: Some(unsupported::clCreateFromGLRenderbuffer),
    clGetGLObjectInfo: Some(unsupported::clGetGLObjectInfo),
    clGetGLTextureInfo: Some(unsupported::clGetGLTextureInfo),
    clEnqueueAcquireGLObjects: Some(unsupported::clEnqueueAcquireGLObjects),
    clEnqueueReleaseGLObjects: Some(unsupported::clEnqueueReleaseGLObjects),
    clGetGLContextInfoKHR: Some(unsupported::clGetGLContextInfoKHR),
    clGetDeviceIDsFromD3D10KHR: Some(unsupported::clGetDeviceIDsFromD3D10KHR),
    clCreateFromD3D10BufferKHR: Some(unsupported::clCreateFromD3D10BufferKHR),
    clCreateFromD3D10Texture2DKHR: Some(unsupported::clCreateFromD3D10Texture2DKHR),
    clCreateFromD3D10Texture3DKHR: Some(unsupported::clCreateFromD3D10Texture3DKHR),
    clEnqueueAcquireD3D10ObjectsKHR: Some(unsupported::clEnqueueAcquireD3D10ObjectsKHR),
    clEnqueueReleaseD3D10ObjectsKHR: Some(unsupported::clEnqueueReleaseD3D10ObjectsKHR),
    clSetEventCallback: Some(event::clSetEventCallback),
    clCreateSubBuffer: Some(buffer::clCreateSubBuffer),
    clSetMemObjectDestructorCallback: Some(buffer::clSetMemObjectDestructorCallback),
    clCreateUserEvent: Some(event::clCreateUserEvent),
    clSetUserEventStatus: Some(event::clSetUserEventStatus),
    clEnqueueReadBufferRect: Some(transfer::clEnqueueReadBufferRect),
    clEnqueueWriteBufferRect: Some(transfer::clEnqueueWriteBufferRect),
    clEnqueueCopyBufferRect: Some(transfer::clEnqueueCopyBufferRect),
    clCreateSubDevicesEXT: Some(device::clCreateSubDevicesEXT),
    clRetainDeviceEXT: Some(device::clRetainDevice),
    clReleaseDeviceEXT: Some(device::clReleaseDevice),
    clCreateEventFromGLsyncKHR: Some(unsupported::clCreateEventFromGLsyncKHR),
    clCreateSubDevices: Some(device::clCreateSubDevices),
    clRetainDevice: Some(device::clRetainDevice),
    clReleaseDevice: Some(device::clReleaseDevice),
    clCreateImage: Some(image::clCreateImage),
    clCreateProgramWithBuiltInKernels: Some(program::clCreateProgramWithBuiltInKernels),
    clCompileProgram: Some(program::clCompileProgram),
    clLinkProgram: Some(program::clLinkProgram),
    clUnloadPlatformCompiler: Some(platform::clUnloadPlatformCompiler),
    clGetKernelArgInfo: Some(kernel::clGetKernelArgInfo),
    clEnqueueFillBuffer: Some(transfer::clEnqueueFillBuffer),
    clEnqueueFillImage: Some(image::clEnqueueFillImage),
    clEnqueueMigrateMemObjects: Some(transfer::clEnqueueMigrateMemObjects),
    clEnqueueMarkerWithWaitList: Some(event::clEnqueueMarkerWithWaitList),
    clEnqueueBarrierWithWaitList: Some(event::clEnqueueBarrierWithWaitList),
    clGetExtensionFunctionAddressForPlatform: Some(platform::clGetExtensionFunctionAddressForPlatform),
    clCreateFromGLTexture: Some(unsupported::clCreateFromGLTexture),
    clGetDeviceIDsFromD3D11KHR: Some(unsupported::clGetDeviceIDsFromD3D11KHR),
    clCreateFromD3D11BufferKHR: Some(unsupported::clCreateFromD3D11BufferKHR),
    clCreateFromD3D11Texture2DKHR: Some(unsupported::clCreateFromD3D11Texture2DKHR),
    clCreateFromD3D11Texture3DKHR: Some(unsupported::clCreateFromD3D11Texture3DKHR),
    clCreateFromDX9MediaSurfaceKHR: Some(unsupported::clCreateFromDX9MediaSurfaceKHR),
    clEnqueueAcquireD3D11ObjectsKHR: Some(unsupported::clEnqueueAcquireD3D11ObjectsKHR),
    clEnqueueReleaseD3D11ObjectsKHR: Some(unsupported::clEnqueueReleaseD3D11ObjectsKHR),
    clGetDeviceIDsFromDX9MediaAdapterKHR: Some(unsupported::clGetDeviceIDsFromDX9MediaAdapterKHR),
    clEnqueueAcquireDX9MediaSurfacesKHR: Some(unsupported::clEnqueueAcquireDX9MediaSurfacesKHR),
    clEnqueueReleaseDX9MediaSurfacesKHR: Some(unsupported::clEnqueueReleaseDX9MediaSurfacesKHR),
    clCreateFromEGLImageKHR: Some(unsupported::clCreateFromEGLImageKHR),
    clEnqueueAcquireEGLObjectsKHR: Some(unsupported::clEnqueueAcquireEGLObjectsKHR),
    clEnqueueReleaseEGLObjectsKHR: Some(unsupported::clEnqueueReleaseEGLObjectsKHR),
    clCreateEventFromEGLSyncKHR: Some(unsupported::clCreateEventFromEGLSyncKHR),
    clCreateCommandQueueWithProperties: Some(queue::clCreateCommandQueueWithProperties),
    clCreatePipe: Some(buffer::clCreatePipe),
    clGetPipeInfo: Some(buffer::clGetPipeInfo),
    clSVMAlloc: Some(svm::clSVMAlloc),
    clSVMFree: Some(svm::clSVMFree),
    clEnqueueSVMFree: Some(svm::clEnqueueSVMFree),
    clEnqueueSVMMemcpy: Some(svm::clEnqueueSVMMemcpy),
    clEnqueueSVMMemFill: Some(svm::clEnqueueSVMMemFill),
    clEnqueueSVMMap: Some(svm::clEnqueueSVMMap),
    clEnqueueSVMUnmap: Some(svm::clEnqueueSVMUnmap),
    clCreateSamplerWithProperties: Some(sampler::clCreateSamplerWithProperties),
    clSetKernelArgSVMPointer: Some(kernel::clSetKernelArgSVMPointer),
    clSetKernelExecInfo: Some(kernel::clSetKernelExecInfo),
    clGetKernelSubGroupInfoKHR: Some(kernel::clGetKernelSubGroupInfo),
    clCloneKernel: Some(kernel::clCloneKernel),
    clCreateProgramWithIL: Some(program::clCreateProgramWithIL),
    clEnqueueSVMMigrateMem: Some(svm::clEnqueueSVMMigrateMem),
    clGetDeviceAndHostTimer: Some(device::clGetDeviceAndHostTimer),
    clGetHostTimer: Some(device::clGetHostTimer),
    clGetKernelSubGroupInfo: Some(kernel::clGetKernelSubGroupInfo),
    clSetDefaultDeviceCommandQueue: Some(queue::clSetDefaultDeviceCommandQueue),
    clSetProgramReleaseCallback: Some(program::clSetProgramReleaseCallback),
    clSetProgramSpecializationConstant: Some(program::clSetProgramSpecializationConstant),
    clCreateBufferWithProperties: Some(buffer::clCreateBufferWithProperties),
    clCreateImageWithProperties: Some(image::clCreateImageWithProperties),
    clSetContextDestructorCallback: Some(context::clSetContextDestructorCallback),
    clGetKernelSuggestedLocalWorkSize: Some(launch::clGetKernelSuggestedLocalWorkSize),
};

/// Objects have the table from now on. There is none before a loader has come in.
fn install() {
    object::set_table(&DISPATCH);
}

// What the library exports has names that the loader has as well, and in a process with both the loader's are
// the ones that count, also for calls from here: nothing inside refers to the exported functions.

/// What the loader finds the others by.
#[unsafe(export_name = "clGetExtensionFunctionAddress")]
unsafe extern "C" fn exported_address(name: *const c_char) -> *mut c_void {
    install();
    // SAFETY: the caller's contract is that of the entry point.
    unsafe { platform::clGetExtensionFunctionAddress(name) }
}

/// The loader's first call, under the name that some loaders look for.
#[unsafe(export_name = "clIcdGetPlatformIDsKHR")]
unsafe extern "C" fn exported_platforms(n: cl_uint, platforms: *mut cl_platform_id, count: *mut cl_uint) -> cl_int {
    install();
    // SAFETY: as above.
    unsafe { platform::clIcdGetPlatformIDsKHR(n, platforms, count) }
}

/// The same for the platform's properties.
#[unsafe(export_name = "clGetPlatformInfo")]
unsafe extern "C" fn exported_information(
    handle: cl_platform_id,
    name: cl_platform_info,
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
) -> cl_int {
    install();
    // SAFETY: as above.
    unsafe { platform::clGetPlatformInfo(handle, name, size, value, size_ret) }
}
