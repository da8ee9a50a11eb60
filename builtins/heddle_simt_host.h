// Declarations of the runtime's host interface of CUDA and HIP, so that a source with its host program compiles: hosts are parsed and
// left out, nothing here is ever called. `__HEDDLE_API(name)` is the name with the language's prefix. What each is stands in the
// CUDA Runtime API, which HIP follows name by name.
#pragma once

// What the runtime's own header includes, and hosts rely on.
#if __has_include(<malloc.h>)
// clang's own <new> calls `malloc`.
#include <malloc.h>
#endif
#ifdef __HEDDLE_HOST__
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>
#endif

#define __HEDDLE_CALL extern "C" __host__ __HEDDLE_API(Error_t)
#define __HEDDLE_HOST template <class T> __host__ __HEDDLE_API(Error_t)

enum __HEDDLE_API(Error_t) {
  __HEDDLE_API(Success), __HEDDLE_API(ErrorInvalidValue), __HEDDLE_API(ErrorMemoryAllocation), __HEDDLE_API(ErrorInitializationError),
  __HEDDLE_API(ErrorInvalidConfiguration), __HEDDLE_API(ErrorInvalidSymbol), __HEDDLE_API(ErrorInvalidDevicePointer),
  __HEDDLE_API(ErrorInvalidMemcpyDirection), __HEDDLE_API(ErrorInsufficientDriver), __HEDDLE_API(ErrorNoDevice),
  __HEDDLE_API(ErrorInvalidDevice), __HEDDLE_API(ErrorInvalidResourceHandle), __HEDDLE_API(ErrorNotReady),
  __HEDDLE_API(ErrorIllegalAddress), __HEDDLE_API(ErrorLaunchOutOfResources), __HEDDLE_API(ErrorLaunchTimeout),
  __HEDDLE_API(ErrorLaunchFailure), __HEDDLE_API(ErrorPeerAccessAlreadyEnabled), __HEDDLE_API(ErrorNotSupported),
  __HEDDLE_API(ErrorCooperativeLaunchTooLarge), __HEDDLE_API(ErrorUnknown)
};

enum __HEDDLE_API(MemcpyKind) {
  __HEDDLE_API(MemcpyHostToHost), __HEDDLE_API(MemcpyHostToDevice), __HEDDLE_API(MemcpyDeviceToHost),
  __HEDDLE_API(MemcpyDeviceToDevice), __HEDDLE_API(MemcpyDefault)
};
enum __HEDDLE_API(FuncCache) {
  __HEDDLE_API(FuncCachePreferNone), __HEDDLE_API(FuncCachePreferShared), __HEDDLE_API(FuncCachePreferL1),
  __HEDDLE_API(FuncCachePreferEqual)
};
enum __HEDDLE_API(SharedMemConfig) {
  __HEDDLE_API(SharedMemBankSizeDefault), __HEDDLE_API(SharedMemBankSizeFourByte), __HEDDLE_API(SharedMemBankSizeEightByte)
};
enum __HEDDLE_API(Limit) {
  __HEDDLE_API(LimitStackSize), __HEDDLE_API(LimitPrintfFifoSize), __HEDDLE_API(LimitMallocHeapSize)
};
enum __HEDDLE_API(FuncAttribute) {
  __HEDDLE_API(FuncAttributeMaxDynamicSharedMemorySize), __HEDDLE_API(FuncAttributePreferredSharedMemoryCarveout)
};
enum __HEDDLE_API(MemoryAdvise) {
  __HEDDLE_API(MemAdviseSetReadMostly), __HEDDLE_API(MemAdviseUnsetReadMostly), __HEDDLE_API(MemAdviseSetPreferredLocation),
  __HEDDLE_API(MemAdviseUnsetPreferredLocation), __HEDDLE_API(MemAdviseSetAccessedBy), __HEDDLE_API(MemAdviseUnsetAccessedBy)
};
enum __HEDDLE_API(ChannelFormatKind) {
  __HEDDLE_API(ChannelFormatKindSigned), __HEDDLE_API(ChannelFormatKindUnsigned), __HEDDLE_API(ChannelFormatKindFloat),
  __HEDDLE_API(ChannelFormatKindNone)
};
enum {
  __HEDDLE_API(EventDefault), __HEDDLE_API(EventBlockingSync), __HEDDLE_API(EventDisableTiming), __HEDDLE_API(StreamNonBlocking) = 1, __HEDDLE_API(HostAllocDefault) = 0, __HEDDLE_API(HostAllocPortable),
  __HEDDLE_API(HostAllocMapped), __HEDDLE_API(HostAllocWriteCombined) = 4, __HEDDLE_API(HostRegisterDefault) = 0,
  __HEDDLE_API(HostRegisterPortable), __HEDDLE_API(HostRegisterMapped), __HEDDLE_API(MemAttachGlobal) = 1,
  __HEDDLE_API(MemAttachHost), __HEDDLE_API(DeviceScheduleAuto) = 0, __HEDDLE_API(DeviceScheduleSpin),
  __HEDDLE_API(DeviceScheduleYield), __HEDDLE_API(DeviceScheduleBlockingSync) = 4, __HEDDLE_API(DeviceMapHost) = 8
};
// Macros, as in the runtime's own header: 0 is a stream, too.
#define cudaStreamDefault 0
#define hipStreamDefault 0
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
#define hipStreamPerThread ((hipStream_t)2)
#define cudaCpuDeviceId (-1)
#define hipCpuDeviceId (-1)

typedef struct __heddle_stream *__HEDDLE_API(Stream_t);
typedef struct __heddle_event *__HEDDLE_API(Event_t);
typedef struct __heddle_array *__HEDDLE_API(Array_t);
typedef void (*__HEDDLE_API(HostFn_t))(void *);
typedef void (*__HEDDLE_API(StreamCallback_t))(__HEDDLE_API(Stream_t), __HEDDLE_API(Error_t), void *);

enum __HEDDLE_API(LaunchAttributeID) {
  __HEDDLE_API(LaunchAttributeIgnore), __HEDDLE_API(LaunchAttributeCooperative) = 2, __HEDDLE_API(LaunchAttributeClusterDimension) = 4,
  __HEDDLE_API(LaunchAttributeProgrammaticStreamSerialization) = 6, __HEDDLE_API(LaunchAttributePriority) = 8
};
union __HEDDLE_API(LaunchAttributeValue) {
  struct { unsigned x, y, z; } clusterDim;
  int cooperative, programmaticStreamSerializationAllowed, priority;
};
struct __HEDDLE_API(LaunchAttribute) { __HEDDLE_API(LaunchAttributeID) id; __HEDDLE_API(LaunchAttributeValue) val; };
struct __HEDDLE_API(LaunchConfig_t) {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  __HEDDLE_API(Stream_t) stream;
  __HEDDLE_API(LaunchAttribute) *attrs;
  unsigned numAttrs;
};
template <class... Parameters, class... Arguments>
__host__ __HEDDLE_API(Error_t) __HEDDLE_API(LaunchKernelEx)(const __HEDDLE_API(LaunchConfig_t) *, void (*)(Parameters...), Arguments &&...);

enum __HEDDLE_DEVICE_ATTRIBUTES {
  __HEDDLE_DEVICE_ATTRIBUTE(MaxThreadsPerBlock), __HEDDLE_DEVICE_ATTRIBUTE(MaxBlockDimX), __HEDDLE_DEVICE_ATTRIBUTE(MaxBlockDimY),
  __HEDDLE_DEVICE_ATTRIBUTE(MaxBlockDimZ), __HEDDLE_DEVICE_ATTRIBUTE(MaxGridDimX), __HEDDLE_DEVICE_ATTRIBUTE(MaxGridDimY),
  __HEDDLE_DEVICE_ATTRIBUTE(MaxGridDimZ), __HEDDLE_DEVICE_ATTRIBUTE(MaxSharedMemoryPerBlock),
  __HEDDLE_DEVICE_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor), __HEDDLE_DEVICE_ATTRIBUTE(MaxThreadsPerMultiProcessor),
  __HEDDLE_DEVICE_ATTRIBUTE(MaxRegistersPerBlock), __HEDDLE_DEVICE_ATTRIBUTE(WarpSize), __HEDDLE_DEVICE_ATTRIBUTE(ClockRate),
  __HEDDLE_DEVICE_ATTRIBUTE(MemoryClockRate), __HEDDLE_DEVICE_ATTRIBUTE(GlobalMemoryBusWidth),
  __HEDDLE_DEVICE_ATTRIBUTE(MultiProcessorCount), __HEDDLE_DEVICE_ATTRIBUTE(L2CacheSize),
  __HEDDLE_DEVICE_ATTRIBUTE(ComputeCapabilityMajor), __HEDDLE_DEVICE_ATTRIBUTE(ComputeCapabilityMinor),
  __HEDDLE_DEVICE_ATTRIBUTE(ConcurrentManagedAccess), __HEDDLE_DEVICE_ATTRIBUTE(CooperativeLaunch)
};

struct __HEDDLE_API(ChannelFormatDesc) { int x, y, z, w; __HEDDLE_API(ChannelFormatKind) f; };
struct __HEDDLE_API(Extent) { size_t width, height, depth; };
struct __HEDDLE_API(Pos) { size_t x, y, z; };
struct __HEDDLE_API(PitchedPtr) { void *ptr; size_t pitch, xsize, ysize; };
struct __HEDDLE_API(Memcpy3DParms) {
  __HEDDLE_API(Array_t) srcArray, dstArray;
  __HEDDLE_API(Pos) srcPos, dstPos;
  __HEDDLE_API(PitchedPtr) srcPtr, dstPtr;
  __HEDDLE_API(Extent) extent;
  __HEDDLE_API(MemcpyKind) kind;
};
struct __HEDDLE_API(FuncAttributes) {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
};
struct __HEDDLE_DEVICE_PROPERTIES {
  char name[256], gcnArchName[256];
  size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem, textureAlignment, sharedMemPerMultiprocessor,
      sharedMemPerBlockOptin;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, deviceOverlap,
      multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled,
      pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth,
      l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, regsPerMultiprocessor, managedMemory, isMultiGpuBoard,
      cooperativeLaunch, concurrentManagedAccess, pageableMemoryAccess, maxBlocksPerMultiProcessor;
};

// --- Errors and devices. ---
__HEDDLE_CALL __HEDDLE_API(GetLastError)();
__HEDDLE_CALL __HEDDLE_API(PeekAtLastError)();
extern "C" __host__ const char *__HEDDLE_API(GetErrorString)(__HEDDLE_API(Error_t));
extern "C" __host__ const char *__HEDDLE_API(GetErrorName)(__HEDDLE_API(Error_t));
__HEDDLE_CALL __HEDDLE_API(GetDeviceCount)(int *);
__HEDDLE_CALL __HEDDLE_API(GetDevice)(int *);
__HEDDLE_CALL __HEDDLE_API(SetDevice)(int);
__HEDDLE_CALL __HEDDLE_API(SetDeviceFlags)(unsigned);
__HEDDLE_CALL __HEDDLE_API(GetDeviceProperties)(__HEDDLE_DEVICE_PROPERTIES *, int);
__HEDDLE_CALL __HEDDLE_API(DeviceSynchronize)();
__HEDDLE_CALL __HEDDLE_API(DeviceReset)();
__HEDDLE_CALL __HEDDLE_API(DeviceSetLimit)(__HEDDLE_API(Limit), size_t);
__HEDDLE_CALL __HEDDLE_API(DeviceGetLimit)(size_t *, __HEDDLE_API(Limit));
__HEDDLE_CALL __HEDDLE_API(DeviceSetCacheConfig)(__HEDDLE_API(FuncCache));
__HEDDLE_CALL __HEDDLE_API(DeviceSetSharedMemConfig)(__HEDDLE_API(SharedMemConfig));
__HEDDLE_CALL __HEDDLE_API(DeviceGetStreamPriorityRange)(int *, int *);
__HEDDLE_CALL __HEDDLE_API(DeviceGetAttribute)(int *, __HEDDLE_DEVICE_ATTRIBUTES, int);
__HEDDLE_CALL __HEDDLE_API(DeviceCanAccessPeer)(int *, int, int);
__HEDDLE_CALL __HEDDLE_API(DeviceEnablePeerAccess)(int, unsigned);
__HEDDLE_CALL __HEDDLE_API(DriverGetVersion)(int *);
__HEDDLE_CALL __HEDDLE_API(RuntimeGetVersion)(int *);
__HEDDLE_CALL __HEDDLE_API(ThreadSynchronize)();
__HEDDLE_CALL __HEDDLE_API(ThreadExit)();
__HEDDLE_CALL __HEDDLE_API(ProfilerStart)();
__HEDDLE_CALL __HEDDLE_API(ProfilerStop)();

// --- Memory. ---
__HEDDLE_HOST __HEDDLE_API(Malloc)(T **, size_t);
__HEDDLE_HOST __HEDDLE_API(MallocHost)(T **, size_t, unsigned flags = 0);
__HEDDLE_HOST __HEDDLE_API(HostMalloc)(T **, size_t, unsigned flags = 0);
__HEDDLE_HOST __HEDDLE_API(HostAlloc)(T **, size_t, unsigned flags);
__HEDDLE_HOST __HEDDLE_API(HostGetDevicePointer)(T **, void *, unsigned flags);
__HEDDLE_HOST __HEDDLE_API(MallocManaged)(T **, size_t, unsigned flags = __HEDDLE_API(MemAttachGlobal));
__HEDDLE_HOST __HEDDLE_API(MallocPitch)(T **, size_t *pitch, size_t width, size_t height);
__HEDDLE_HOST __HEDDLE_API(MallocAsync)(T **, size_t, __HEDDLE_API(Stream_t));
__HEDDLE_CALL __HEDDLE_API(HostRegister)(void *, size_t, unsigned);
__HEDDLE_CALL __HEDDLE_API(HostUnregister)(void *);
__HEDDLE_CALL __HEDDLE_API(Malloc3D)(__HEDDLE_API(PitchedPtr) *, __HEDDLE_API(Extent));
__HEDDLE_CALL __HEDDLE_API(MallocArray)(__HEDDLE_API(Array_t) *, const __HEDDLE_API(ChannelFormatDesc) *, size_t width,
                                        size_t height = 0, unsigned flags = 0);
__HEDDLE_CALL __HEDDLE_API(Free)(void *);
__HEDDLE_CALL __HEDDLE_API(FreeAsync)(void *, __HEDDLE_API(Stream_t));
__HEDDLE_CALL __HEDDLE_API(FreeHost)(void *);
__HEDDLE_CALL __HEDDLE_API(HostFree)(void *);
__HEDDLE_CALL __HEDDLE_API(FreeArray)(__HEDDLE_API(Array_t));
__HEDDLE_CALL __HEDDLE_API(Memcpy)(void *, const void *, size_t, __HEDDLE_API(MemcpyKind));
__HEDDLE_CALL __HEDDLE_API(MemcpyAsync)(void *, const void *, size_t, __HEDDLE_API(MemcpyKind), __HEDDLE_API(Stream_t) = 0);
__HEDDLE_CALL __HEDDLE_API(MemcpyPeer)(void *, int, const void *, int, size_t);
__HEDDLE_CALL __HEDDLE_API(Memcpy2D)(void *, size_t, const void *, size_t, size_t, size_t, __HEDDLE_API(MemcpyKind));
__HEDDLE_CALL __HEDDLE_API(Memcpy2DAsync)(void *, size_t, const void *, size_t, size_t, size_t, __HEDDLE_API(MemcpyKind),
                                          __HEDDLE_API(Stream_t) = 0);
__HEDDLE_CALL __HEDDLE_API(MemcpyToArray)(__HEDDLE_API(Array_t), size_t, size_t, const void *, size_t, __HEDDLE_API(MemcpyKind));
__HEDDLE_CALL __HEDDLE_API(Memcpy2DToArray)(__HEDDLE_API(Array_t), size_t, size_t, const void *, size_t, size_t, size_t,
                                            __HEDDLE_API(MemcpyKind));
__HEDDLE_CALL __HEDDLE_API(Memcpy3D)(const __HEDDLE_API(Memcpy3DParms) *);
__HEDDLE_HOST __HEDDLE_API(MemcpyToSymbol)(const T &, const void *, size_t, size_t offset = 0,
                                           __HEDDLE_API(MemcpyKind) = __HEDDLE_API(MemcpyHostToDevice));
__HEDDLE_HOST __HEDDLE_API(MemcpyToSymbolAsync)(const T &, const void *, size_t, size_t offset, __HEDDLE_API(MemcpyKind),
                                                __HEDDLE_API(Stream_t) = 0);
__HEDDLE_HOST __HEDDLE_API(MemcpyFromSymbol)(void *, const T &, size_t, size_t offset = 0,
                                             __HEDDLE_API(MemcpyKind) = __HEDDLE_API(MemcpyDeviceToHost));
__HEDDLE_HOST __HEDDLE_API(MemcpyFromSymbolAsync)(void *, const T &, size_t, size_t offset, __HEDDLE_API(MemcpyKind),
                                                  __HEDDLE_API(Stream_t) = 0);
__HEDDLE_HOST __HEDDLE_API(GetSymbolAddress)(void **, const T &);
__HEDDLE_HOST __HEDDLE_API(GetSymbolSize)(size_t *, const T &);
__HEDDLE_CALL __HEDDLE_API(Memset)(void *, int, size_t);
__HEDDLE_CALL __HEDDLE_API(MemsetAsync)(void *, int, size_t, __HEDDLE_API(Stream_t) = 0);
__HEDDLE_CALL __HEDDLE_API(Memset2D)(void *, size_t, int, size_t, size_t);
__HEDDLE_CALL __HEDDLE_API(MemGetInfo)(size_t *, size_t *);
__HEDDLE_CALL __HEDDLE_API(MemPrefetchAsync)(const void *, size_t, int, __HEDDLE_API(Stream_t) = 0);
__HEDDLE_CALL __HEDDLE_API(MemAdvise)(const void *, size_t, __HEDDLE_API(MemoryAdvise), int);
template <class T> __host__ __HEDDLE_API(ChannelFormatDesc) __HEDDLE_API(CreateChannelDesc)();
extern "C" __host__ __HEDDLE_API(ChannelFormatDesc)
    __HEDDLE_API(CreateChannelDesc)(int, int, int, int, __HEDDLE_API(ChannelFormatKind));

// --- Streams and events. ---
__HEDDLE_CALL __HEDDLE_API(StreamCreate)(__HEDDLE_API(Stream_t) *);
__HEDDLE_CALL __HEDDLE_API(StreamCreateWithFlags)(__HEDDLE_API(Stream_t) *, unsigned);
__HEDDLE_CALL __HEDDLE_API(StreamCreateWithPriority)(__HEDDLE_API(Stream_t) *, unsigned, int);
__HEDDLE_CALL __HEDDLE_API(StreamDestroy)(__HEDDLE_API(Stream_t));
__HEDDLE_CALL __HEDDLE_API(StreamSynchronize)(__HEDDLE_API(Stream_t));
__HEDDLE_CALL __HEDDLE_API(StreamQuery)(__HEDDLE_API(Stream_t));
__HEDDLE_CALL __HEDDLE_API(StreamWaitEvent)(__HEDDLE_API(Stream_t), __HEDDLE_API(Event_t), unsigned flags = 0);
__HEDDLE_CALL __HEDDLE_API(StreamAddCallback)(__HEDDLE_API(Stream_t), __HEDDLE_API(StreamCallback_t), void *, unsigned);
__HEDDLE_CALL __HEDDLE_API(LaunchHostFunc)(__HEDDLE_API(Stream_t), __HEDDLE_API(HostFn_t), void *);
__HEDDLE_CALL __HEDDLE_API(EventCreate)(__HEDDLE_API(Event_t) *);
__host__ __HEDDLE_API(Error_t) __HEDDLE_API(EventCreate)(__HEDDLE_API(Event_t) *, unsigned flags);
__HEDDLE_CALL __HEDDLE_API(EventCreateWithFlags)(__HEDDLE_API(Event_t) *, unsigned);
__HEDDLE_CALL __HEDDLE_API(EventRecord)(__HEDDLE_API(Event_t), __HEDDLE_API(Stream_t) = 0);
__HEDDLE_CALL __HEDDLE_API(EventSynchronize)(__HEDDLE_API(Event_t));
__HEDDLE_CALL __HEDDLE_API(EventQuery)(__HEDDLE_API(Event_t));
__HEDDLE_CALL __HEDDLE_API(EventElapsedTime)(float *, __HEDDLE_API(Event_t), __HEDDLE_API(Event_t));
__HEDDLE_CALL __HEDDLE_API(EventDestroy)(__HEDDLE_API(Event_t));

// --- Kernels. ---
__HEDDLE_HOST __HEDDLE_API(FuncSetCacheConfig)(T *, __HEDDLE_API(FuncCache));
__HEDDLE_HOST __HEDDLE_API(FuncSetAttribute)(T *, __HEDDLE_API(FuncAttribute), int);
__HEDDLE_HOST __HEDDLE_API(FuncGetAttributes)(__HEDDLE_API(FuncAttributes) *, T *);
__HEDDLE_HOST __HEDDLE_API(LaunchKernel)(T *, dim3, dim3, void **, size_t shared = 0, __HEDDLE_API(Stream_t) = 0);
__HEDDLE_HOST __HEDDLE_API(LaunchCooperativeKernel)(T *, dim3, dim3, void **, size_t shared = 0, __HEDDLE_API(Stream_t) = 0);
__HEDDLE_HOST __HEDDLE_API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *, T, int, size_t);
__HEDDLE_HOST __HEDDLE_API(OccupancyMaxPotentialBlockSize)(int *, int *, T, size_t shared = 0, int limit = 0);
// What clang looks for where a host launches a kernel with `<<<…>>>`.
extern "C" __host__ int cudaConfigureCall(dim3, dim3, size_t = 0, void * = 0);
extern "C" __host__ int __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" __host__ int hipConfigureCall(dim3, dim3, size_t = 0, void * = 0);
extern "C" __host__ int __hipPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);

// --- What hosts may call of the functions for devices. ---
#define __HEDDLE_EXTREMES(T) __host__ T min(T, T); __host__ T max(T, T);
__HEDDLE_EXTREMES(int) __HEDDLE_EXTREMES(unsigned) __HEDDLE_EXTREMES(long) __HEDDLE_EXTREMES(unsigned long)
__HEDDLE_EXTREMES(long long) __HEDDLE_EXTREMES(unsigned long long) __HEDDLE_EXTREMES(float) __HEDDLE_EXTREMES(double)
#undef __HEDDLE_EXTREMES
#define __HEDDLE_MIXED_EXTREMES(T, U, V) __host__ V min(T, U); __host__ V min(U, T); __host__ V max(T, U); __host__ V max(U, T);
__HEDDLE_MIXED_EXTREMES(int, unsigned, unsigned) __HEDDLE_MIXED_EXTREMES(long, unsigned long, unsigned long)
__HEDDLE_MIXED_EXTREMES(long long, unsigned long long, unsigned long long) __HEDDLE_MIXED_EXTREMES(float, double, double)
#undef __HEDDLE_MIXED_EXTREMES
__host__ __half __float2half(float);
__host__ float __half2float(__half);

#undef __HEDDLE_CALL
#undef __HEDDLE_HOST
#undef __HEDDLE_API
#undef __HEDDLE_DEVICE_PROPERTIES
#undef __HEDDLE_DEVICE_ATTRIBUTE
#undef __HEDDLE_DEVICE_ATTRIBUTES
