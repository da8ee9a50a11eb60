/* A program with a data race in its kernel, for `heddle exec --check`:
 *
 *     cc -O2 -o examples/racy_host examples/racy_host.c -lOpenCL
 *     heddle exec --check -- examples/racy_host
 *
 * Without the check nothing shows: the numbers stay between the smallest and the largest of the input
 * in whatever order the work-items run, and that is all that the host can tell (exit code 1 if they
 * do not). The check names the two lines of racy_host.cl that touch the same number. */
#include "opencl/host.h"

enum { COUNT = 256 };

int main(int argc, char **argv) {
    cl_device_id device = host_device(argc, argv);
    cl_context context = host_context(device);
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "make a command queue");
    cl_program program = host_program(context, device, __FILE__, "racy_host.cl", "");
    cl_kernel smooth = host_kernel(program, "smooth");

    cl_float row[COUNT];
    for (int i = 0; i < COUNT; i++)
        row[i] = (cl_float)(i * 37 % 101);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof row, row, &code);
    must(code, "make a buffer");
    host_argument(smooth, 0, sizeof buffer, &buffer);
    const size_t global = COUNT, local = 64;
    must(clEnqueueNDRangeKernel(queue, smooth, 1, NULL, &global, &local, 0, NULL, NULL), "launch smooth");
    must(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof row, row, 0, NULL, NULL), "read the numbers back");

    int good = 1;
    for (int i = 0; i < COUNT; i++)
        if (!(row[i] >= 0.0f && row[i] <= 100.0f)) {
            fprintf(stderr, "error: number %d is %g, which no order of the work-items gives\n", i, (double)row[i]);
            good = 0;
        }
    clReleaseMemObject(buffer);
    clReleaseKernel(smooth);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    puts(good ? "all numbers are within the input's range" : "wrong");
    return good ? 0 : 1;
}
