/* What the hosts in C share: names of errors, the choice of a device, and the reading and building
 * of kernels. Everything is `static inline`, so that a host is built from its own file alone. */
#ifndef HOST_H
#define HOST_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of an error code, as in CL/cl.h. */
static inline const char *host_error_name(cl_int code) {
#define NAME(n) \
    case n: \
        return #n;
    switch (code) {
        NAME(CL_SUCCESS)
        NAME(CL_DEVICE_NOT_FOUND)
        NAME(CL_DEVICE_NOT_AVAILABLE)
        NAME(CL_COMPILER_NOT_AVAILABLE)
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
        NAME(CL_OUT_OF_RESOURCES)
        NAME(CL_OUT_OF_HOST_MEMORY)
        NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
        NAME(CL_MEM_COPY_OVERLAP)
        NAME(CL_IMAGE_FORMAT_MISMATCH)
        NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED)
        NAME(CL_BUILD_PROGRAM_FAILURE)
        NAME(CL_MAP_FAILURE)
        NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
        NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        NAME(CL_COMPILE_PROGRAM_FAILURE)
        NAME(CL_LINKER_NOT_AVAILABLE)
        NAME(CL_LINK_PROGRAM_FAILURE)
        NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
        NAME(CL_INVALID_VALUE)
        NAME(CL_INVALID_DEVICE_TYPE)
        NAME(CL_INVALID_PLATFORM)
        NAME(CL_INVALID_DEVICE)
        NAME(CL_INVALID_CONTEXT)
        NAME(CL_INVALID_QUEUE_PROPERTIES)
        NAME(CL_INVALID_COMMAND_QUEUE)
        NAME(CL_INVALID_HOST_PTR)
        NAME(CL_INVALID_MEM_OBJECT)
        NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
        NAME(CL_INVALID_IMAGE_SIZE)
        NAME(CL_INVALID_SAMPLER)
        NAME(CL_INVALID_BINARY)
        NAME(CL_INVALID_BUILD_OPTIONS)
        NAME(CL_INVALID_PROGRAM)
        NAME(CL_INVALID_PROGRAM_EXECUTABLE)
        NAME(CL_INVALID_KERNEL_NAME)
        NAME(CL_INVALID_KERNEL_DEFINITION)
        NAME(CL_INVALID_KERNEL)
        NAME(CL_INVALID_ARG_INDEX)
        NAME(CL_INVALID_ARG_VALUE)
        NAME(CL_INVALID_ARG_SIZE)
        NAME(CL_INVALID_KERNEL_ARGS)
        NAME(CL_INVALID_WORK_DIMENSION)
        NAME(CL_INVALID_WORK_GROUP_SIZE)
        NAME(CL_INVALID_WORK_ITEM_SIZE)
        NAME(CL_INVALID_GLOBAL_OFFSET)
        NAME(CL_INVALID_EVENT_WAIT_LIST)
        NAME(CL_INVALID_EVENT)
        NAME(CL_INVALID_OPERATION)
        NAME(CL_INVALID_BUFFER_SIZE)
        NAME(CL_INVALID_GLOBAL_WORK_SIZE)
        NAME(CL_INVALID_PROPERTY)
        NAME(CL_INVALID_IMAGE_DESCRIPTOR)
        NAME(CL_INVALID_COMPILER_OPTIONS)
        NAME(CL_INVALID_LINKER_OPTIONS)
    case -1001: /* of the loader: cl_khr_icd */
        return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
        return "an unknown error";
    }
#undef NAME
}

/* Ends the program if a call failed. `what` says what was tried. */
static inline void must(cl_int code, const char *what) {
    if (code != CL_SUCCESS) {
        fprintf(stderr, "error: cannot %s: %s (%d)\n", what, host_error_name(code), code);
        exit(1);
    }
}

/* Memory of the host. Ends the program if there is none. */
static inline void *host_memory(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL) {
        fprintf(stderr, "error: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

/* The value after `--NAME` on the command line, or NULL. */
static inline const char *host_option(int argc, char **argv, const char *name) {
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0) {
            if (i + 1 == argc) {
                fprintf(stderr, "error: --%s needs a value\n", name);
                exit(2);
            }
            return argv[i + 1];
        }
    }
    return NULL;
}

/* The first device of any kind, and its platform; with `--platform TEXT` of the first platform whose
 * name has that text. Says on standard output which it is. */
static inline cl_device_id host_device(int argc, char **argv) {
    const char *wanted = host_option(argc, argv, "platform");
    cl_platform_id platforms[16];
    cl_uint count = 0;
    must(clGetPlatformIDs(16, platforms, &count), "list the OpenCL platforms");
    if (count > 16)
        count = 16;
    for (cl_uint i = 0; i < count; i++) {
        char name[256] = "", device_name[256] = "";
        must(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL), "ask for a platform's name");
        if (wanted != NULL && strstr(name, wanted) == NULL)
            continue;
        cl_device_id device;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
            continue;
        must(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL), "ask for a device's name");
        printf("%s: %s\n", name, device_name);
        return device;
    }
    fprintf(stderr, "error: no OpenCL device%s%s\n", wanted ? " of a platform named like " : "", wanted ? wanted : "");
    exit(1);
}

/* A context of one device. */
static inline cl_context host_context(cl_device_id device) {
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "make a context");
    return context;
}

/* The text of a file that lies beside a host's own source file (`beside` is its `__FILE__`). */
static inline char *host_text(const char *beside, const char *name) {
    const char *slash = strrchr(beside, '/');
    size_t folder = slash ? (size_t)(slash - beside) + 1 : 0;
    char *path = (char *)host_memory(folder + strlen(name) + 1);
    memcpy(path, beside, folder);
    strcpy(path + folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "error: cannot read the kernels in %s\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = (char *)host_memory(size > 0 ? (size_t)size + 1 : 1);
    size_t read = size > 0 ? fread(text, 1, (size_t)size, file) : 0;
    text[read] = '\0';
    fclose(file);
    free(path);
    return text;
}

/* A program built of such a file. Prints the compiler's words if it does not build. */
static inline cl_program host_program(cl_context context, cl_device_id device, const char *beside, const char *name,
                                      const char *options) {
    char *text = host_text(beside, name);
    const char *texts[] = {text};
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, texts, NULL, &code);
    must(code, "make a program");
    free(text);
    code = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        size_t size = 0;
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
        char *log = (char *)host_memory(size + 1);
        log[0] = '\0';
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
        fprintf(stderr, "%s\n", log);
        free(log);
    }
    must(code, "build the kernels");
    return program;
}

/* A kernel of a program. */
static inline cl_kernel host_kernel(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    if (code != CL_SUCCESS)
        fprintf(stderr, "kernel %s:\n", name);
    must(code, "make a kernel");
    return kernel;
}

/* Sets an argument of a kernel. */
static inline void host_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    cl_int code = clSetKernelArg(kernel, index, size, value);
    if (code != CL_SUCCESS) {
        char name[128] = "?", what[192];
        clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
        snprintf(what, sizeof what, "set argument %u of kernel %s", index, name);
        must(code, what);
    }
}

/* Milliseconds that an event's command ran. Its queue was made with CL_QUEUE_PROFILING_ENABLE. */
static inline double host_milliseconds(cl_event event) {
    cl_ulong start = 0, end = 0;
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "read when a command began");
    must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "read when a command ended");
    return (double)(end - start) * 1e-6;
}

#endif
