/* Producer and consumer: two command queues of one device that are ordered by events alone.
 *
 *     cc -O2 -o pipeline examples/opencl/pipeline.c -lOpenCL -lpthread
 *     ./pipeline [--blocks N] [--platform NAME]
 *
 * One queue fills blocks of a stream, the other one counts what is in them. The blocks lie in a ring of
 * three buffers: a block is consumed after it was produced, and its place is filled again after it
 * was consumed. Nothing begins before a user event opens the gate, by when everything is enqueued; a
 * callback counts the blocks that are done. The host does the same; the exit code is 1 if a count
 * or the order differs, or if OpenCL fails. */
#include "host.h"

#include <pthread.h>

enum { RING = 3, BLOCK = 4096, GROUP = 64, BINS = 256 };

/* Blocks that are done, counted by a callback that may run on a thread of the driver. */
struct progress {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
    cl_int worst;
};

static void CL_CALLBACK consumed(cl_event event, cl_int status, void *data) {
    struct progress *progress = data;
    (void)event;
    pthread_mutex_lock(&progress->lock);
    progress->done++;
    if (status < progress->worst)
        progress->worst = status;
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->lock);
}

/* As in pipeline.cl. */
static cl_uint number(cl_uint v) {
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ v >> 16;
}

/* Whether histogram and checksum are those that the host computes. */
static int verify(int blocks, const cl_uint *histogram, cl_uint chain) {
    cl_uint expected[BINS] = {0}, order = 0;
    for (int b = 0; b < blocks; b++) {
        for (int i = 0; i < BLOCK; i++)
            expected[number((cl_uint)(b * BLOCK + i)) & (BINS - 1)]++;
        order = number(order ^ number((cl_uint)(b * BLOCK)));
    }
    for (int i = 0; i < BINS; i++)
        if (histogram[i] != expected[i]) {
            fprintf(stderr, "error: %u numbers end in %d, and should be %u\n", histogram[i], i, expected[i]);
            return 0;
        }
    if (chain != order) {
        fprintf(stderr, "error: the blocks' checksum is %08x, and should be %08x: they came in another order\n", chain, order);
        return 0;
    }
    return 1;
}

/* Whether the clock of the device says the same order as the events. */
static int in_order(int blocks, cl_event *produced, cl_event *counted) {
    for (int b = 0; b < blocks; b++) {
        cl_ulong filled, begun, freed = 0, refilled = 0;
        must(clGetEventProfilingInfo(produced[b], CL_PROFILING_COMMAND_END, sizeof filled, &filled, NULL), "read a time");
        must(clGetEventProfilingInfo(counted[b], CL_PROFILING_COMMAND_START, sizeof begun, &begun, NULL), "read a time");
        if (b >= RING) {
            must(clGetEventProfilingInfo(counted[b - RING], CL_PROFILING_COMMAND_END, sizeof freed, &freed, NULL), "read a time");
            must(clGetEventProfilingInfo(produced[b], CL_PROFILING_COMMAND_START, sizeof refilled, &refilled, NULL), "read a time");
        }
        if (begun < filled || refilled < freed) {
            fprintf(stderr, "error: block %d was %s\n", b, begun < filled ? "consumed before it was there" : "filled too early");
            return 0;
        }
    }
    return 1;
}

/* Says how much of the time of both queues one waited for the other. */
static void print_times(int blocks, cl_event *produced, cl_event *counted) {
    double producing = 0, consuming = 0;
    for (int b = 0; b < blocks; b++) {
        producing += host_milliseconds(produced[b]);
        consuming += host_milliseconds(counted[b]);
    }
    cl_ulong first, last;
    must(clGetEventProfilingInfo(produced[0], CL_PROFILING_COMMAND_START, sizeof first, &first, NULL), "read a time");
    must(clGetEventProfilingInfo(counted[blocks - 1], CL_PROFILING_COMMAND_END, sizeof last, &last, NULL), "read a time");
    printf("%d blocks: %.3f ms producing, %.3f ms consuming, %.3f ms in all\n", blocks, producing, consuming,
           (double)(last - first) * 1e-6);
}

static cl_mem zeros(cl_context context, cl_command_queue queue, size_t bytes) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    must(code, "make a buffer");
    cl_uint zero = 0;
    must(clEnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, bytes, 0, NULL, NULL), "fill a buffer");
    return buffer;
}

int main(int argc, char **argv) {
    const char *given = host_option(argc, argv, "blocks");
    int blocks = given ? atoi(given) : 40;
    if (blocks < 1 || blocks > 10000) {
        fprintf(stderr, "error: --blocks is a number from 1 to 10000, not %s\n", given);
        return 2;
    }
    cl_device_id device = host_device(argc, argv);
    cl_context context = host_context(device);
    cl_command_queue queues[2];
    cl_int code;
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
        must(code, "make a command queue");
    }
    cl_program program = host_program(context, device, __FILE__, "pipeline.cl", "");
    cl_kernel produce = host_kernel(program, "produce"), consume = host_kernel(program, "consume");
    cl_mem histogram = zeros(context, queues[1], BINS * sizeof(cl_uint)), chain = zeros(context, queues[1], sizeof(cl_uint));
    cl_mem ring[RING];
    for (int i = 0; i < RING; i++) {
        ring[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, BLOCK * sizeof(cl_uint), NULL, &code);
        must(code, "make a buffer");
    }

    struct progress progress = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, CL_COMPLETE};
    cl_event gate = clCreateUserEvent(context, &code);
    must(code, "make a user event");
    cl_event *produced = host_memory(sizeof(cl_event) * (size_t)blocks), *counted = host_memory(sizeof(cl_event) * (size_t)blocks);
    const size_t global = BLOCK, local = GROUP;
    for (int b = 0; b < blocks; b++) {
        cl_mem block = ring[b % RING];
        cl_uint first = (cl_uint)(b * BLOCK);
        host_argument(produce, 0, sizeof block, &block);
        host_argument(produce, 1, sizeof first, &first);
        cl_event *before = b < RING ? &gate : &counted[b - RING];
        must(clEnqueueNDRangeKernel(queues[0], produce, 1, NULL, &global, &local, 1, before, &produced[b]), "launch produce");
        host_argument(consume, 0, sizeof block, &block);
        host_argument(consume, 1, sizeof histogram, &histogram);
        host_argument(consume, 2, sizeof chain, &chain);
        host_argument(consume, 3, BINS * sizeof(cl_uint), NULL);
        must(clEnqueueNDRangeKernel(queues[1], consume, 1, NULL, &global, &local, 1, &produced[b], &counted[b]), "launch consume");
        must(clSetEventCallback(counted[b], CL_COMPLETE, consumed, &progress), "set a callback");
    }
    must(clFlush(queues[0]), "flush the producer's queue");
    must(clFlush(queues[1]), "flush the consumer's queue");
    pthread_mutex_lock(&progress.lock);
    int early = progress.done;
    pthread_mutex_unlock(&progress.lock);
    must(clSetUserEventStatus(gate, CL_COMPLETE), "open the gate");

    pthread_mutex_lock(&progress.lock);
    while (progress.done < blocks)
        pthread_cond_wait(&progress.changed, &progress.lock);
    pthread_mutex_unlock(&progress.lock);
    must(progress.worst, "run all kernels");
    cl_uint counts[BINS], order = 0;
    must(clEnqueueReadBuffer(queues[1], histogram, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL), "read the counts");
    must(clEnqueueReadBuffer(queues[1], chain, CL_TRUE, 0, sizeof order, &order, 0, NULL, NULL), "read the checksum");

    print_times(blocks, produced, counted);
    if (early != 0)
        fprintf(stderr, "error: %d blocks were done before the gate was opened\n", early);
    int good = verify(blocks, counts, order) && in_order(blocks, produced, counted) && early == 0;
    for (int b = 0; b < blocks; b++) {
        clReleaseEvent(produced[b]);
        clReleaseEvent(counted[b]);
    }
    clReleaseEvent(gate);
    for (int i = 0; i < RING; i++)
        clReleaseMemObject(ring[i]);
    clReleaseMemObject(histogram);
    clReleaseMemObject(chain);
    clReleaseKernel(produce);
    clReleaseKernel(consume);
    clReleaseProgram(program);
    clReleaseCommandQueue(queues[0]);
    clReleaseCommandQueue(queues[1]);
    clReleaseContext(context);
    free(produced);
    free(counted);
    puts(good ? "right" : "wrong");
    return good ? 0 : 1;
}
