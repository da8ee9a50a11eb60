/* Bodies that attract each other, over many steps: a long program of launches that are alike.
 *
 *     cc -O2 -o nbody examples/opencl/nbody.c -lOpenCL -lm
 *     ./nbody [--bodies N] [--steps N] [--platform NAME]
 *
 * Each step computes what all bodies do to each and moves them. A run of more than 10^10 warp
 * instructions, reported with cycles:
 *
 *     heddle exec --mode timing --alike --report out -- ./nbody --bodies 8192 --steps 256
 *
 * Verified: the accelerations of the last step for some bodies, against a sum in double precision over
 * the same places, and the momentum of all, which nothing outside changes. */
#include "host.h"
#include <math.h>

enum { GROUP = 128, CHECKED = 16 };
static const float SOFTENING = 1e-3f, STEP = 1e-4f;

/* A number from 0 to 1, from a generator of its own so that every host has the same bodies. */
static float uniform(cl_uint *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

/* A number from the command line, or another one if it is not there. */
static int number(int argc, char **argv, const char *name, int otherwise, int most) {
    const char *given = host_option(argc, argv, name);
    int value = given ? atoi(given) : otherwise;
    if (value < 1 || value > most) {
        fprintf(stderr, "error: --%s is a number from 1 to %d, not %s\n", name, most, given);
        exit(2);
    }
    return value;
}

/* Whether the accelerations of some bodies are those of a sum in double precision. */
static int verify(int bodies, const cl_float4 *body, const cl_float4 *acceleration) {
    for (int c = 0; c < CHECKED; c++) {
        int i = (int)((long long)c * bodies / CHECKED);
        double sum[3] = {0, 0, 0}, size = 0, off = 0;
        for (int j = 0; j < bodies; j++) {
            double to[3], square = SOFTENING;
            for (int k = 0; k < 3; k++) {
                to[k] = (double)body[j].s[k] - body[i].s[k];
                square += to[k] * to[k];
            }
            for (int k = 0; k < 3; k++)
                sum[k] += to[k] * body[j].s[3] / (square * sqrt(square));
        }
        for (int k = 0; k < 3; k++) {
            size += sum[k] * sum[k];
            off += (sum[k] - acceleration[i].s[k]) * (sum[k] - acceleration[i].s[k]);
        }
        if (!(sqrt(off) <= 1e-3 * sqrt(size) + 1e-6)) {
            fprintf(stderr, "error: the acceleration of body %d is off by %g of %g\n", i, sqrt(off), sqrt(size));
            return 0;
        }
    }
    return 1;
}

/* Whether all bodies together rest, as in the beginning: their momentum, against the sum of its parts. */
static int rests(int bodies, const cl_float4 *body, const cl_float4 *velocity) {
    double momentum[3] = {0, 0, 0}, all = 0;
    for (int i = 0; i < bodies; i++)
        for (int k = 0; k < 3; k++) {
            momentum[k] += (double)body[i].s[3] * velocity[i].s[k];
            all += fabs((double)body[i].s[3] * velocity[i].s[k]);
        }
    double size = sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
    if (!(all > 0 && size <= 1e-4 * all)) {
        fprintf(stderr, "error: the bodies move off: their momentum is %g of %g\n", size, all);
        return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    int bodies = number(argc, argv, "bodies", 1024, 1 << 20), steps = number(argc, argv, "steps", 16, 1 << 20);
    bodies = (bodies + GROUP - 1) / GROUP * GROUP;
    cl_device_id device = host_device(argc, argv);
    cl_context context = host_context(device);
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "make a command queue");
    cl_program program = host_program(context, device, __FILE__, "nbody.cl", "");
    cl_kernel forces = host_kernel(program, "forces"), advance = host_kernel(program, "advance");

    size_t bytes = sizeof(cl_float4) * (size_t)bodies;
    cl_float4 *body = host_memory(bytes), *velocity = host_memory(bytes), *acceleration = host_memory(bytes);
    cl_uint state = 1;
    for (int i = 0; i < bodies; i++) {
        for (int k = 0; k < 3; k++)
            body[i].s[k] = uniform(&state);
        body[i].s[3] = (0.5f + uniform(&state)) / (float)bodies;
    }
    memset(velocity, 0, bytes);
    cl_mem buffers[3];
    void *contents[3] = {body, velocity, acceleration};
    for (int b = 0; b < 3; b++) {
        buffers[b] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
        must(code, "make a buffer");
    }
    for (int b = 0; b < 2; b++)
        must(clEnqueueWriteBuffer(queue, buffers[b], CL_TRUE, 0, bytes, contents[b], 0, NULL, NULL), "write a buffer");

    cl_uint count = (cl_uint)bodies;
    host_argument(forces, 0, sizeof buffers[0], &buffers[0]);
    host_argument(forces, 1, sizeof buffers[2], &buffers[2]);
    host_argument(forces, 2, sizeof count, &count);
    host_argument(forces, 3, sizeof SOFTENING, &SOFTENING);
    for (cl_uint b = 0; b < 3; b++)
        host_argument(advance, b, sizeof buffers[b], &buffers[b]);
    host_argument(advance, 3, sizeof STEP, &STEP);
    const size_t global = (size_t)bodies, local = GROUP;
    for (int s = 0; s < steps; s++) {
        if (s + 1 == steps)
            /* Where the bodies are whose last accelerations are verified. */
            must(clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, bytes, body, 0, NULL, NULL), "read the places");
        must(clEnqueueNDRangeKernel(queue, forces, 1, NULL, &global, &local, 0, NULL, NULL), "launch `forces`");
        must(clEnqueueNDRangeKernel(queue, advance, 1, NULL, &global, &local, 0, NULL, NULL), "launch `advance`");
    }
    must(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, bytes, acceleration, 0, NULL, NULL), "read the accelerations");
    must(clEnqueueReadBuffer(queue, buffers[1], CL_TRUE, 0, bytes, velocity, 0, NULL, NULL), "read the velocities");
    int right = verify(bodies, body, acceleration) && rests(bodies, body, velocity);
    printf("%d bodies, %d steps: %s\n", bodies, steps, right ? "right" : "wrong");

    for (int b = 0; b < 3; b++)
        clReleaseMemObject(buffers[b]);
    clReleaseKernel(forces);
    clReleaseKernel(advance);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    free(body);
    free(velocity);
    free(acceleration);
    return right ? 0 : 1;
}
