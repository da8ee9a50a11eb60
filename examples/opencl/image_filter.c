/* An image filter: a Gaussian blur, then another size by interpolation, on images of the device.
 *
 *     cc -O2 -o image_filter examples/opencl/image_filter.c -lOpenCL -lm
 *     ./image_filter [--platform NAME] [--out blurred.ppm]
 *
 * Shows 2-D images of bytes and of floats, a sampler in the kernel's text and one of the host, and
 * global sizes that no work-group divides. The host computes the same in double precision; the exit
 * code is 1 if a pixel differs by more than two steps of its 255, or if OpenCL fails. */
#include "host.h"

#include <math.h>

enum { WIDTH = 210, HEIGHT = 133, OUT_WIDTH = 140, OUT_HEIGHT = 101, RADIUS = 2, SIDE = 2 * RADIUS + 1 };
/* A group's side. It divides neither width nor height. */
enum { GROUP = 8 };

/* Stripes, a disc and a gradient: edges in all directions. */
static void paint(cl_uchar *image) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            cl_uchar *p = image + 4 * (y * WIDTH + x);
            int dx = x - WIDTH / 2, dy = y - HEIGHT / 2;
            p[0] = (cl_uchar)(x * 255 / (WIDTH - 1));
            p[1] = (x + 2 * y) / 9 % 2 ? 230 : 20;
            p[2] = dx * dx + dy * dy < 40 * 40 ? 255 : 0;
            p[3] = 255;
        }
}

static int clamp(int v, int top) { return v < 0 ? 0 : v > top ? top : v; }

/* The same as the two kernels, in double precision. */
static void reference(const cl_uchar *in, const cl_float *weights, double *out) {
    double *blurred = host_memory(sizeof(double) * WIDTH * HEIGHT * 4);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 4; c++) {
                double sum = 0;
                for (int j = 0; j < SIDE; j++)
                    for (int i = 0; i < SIDE; i++) {
                        int at = clamp(y + j - RADIUS, HEIGHT - 1) * WIDTH + clamp(x + i - RADIUS, WIDTH - 1);
                        sum += (double)weights[j * SIDE + i] * in[4 * at + c] / 255.0;
                    }
                blurred[4 * (y * WIDTH + x) + c] = sum;
            }
    for (int y = 0; y < OUT_HEIGHT; y++)
        for (int x = 0; x < OUT_WIDTH; x++) {
            double u = (x + 0.5) / OUT_WIDTH * WIDTH - 0.5, v = (y + 0.5) / OUT_HEIGHT * HEIGHT - 0.5;
            int left = (int)floor(u), top = (int)floor(v);
            for (int c = 0; c < 4; c++) {
                double sum = 0;
                for (int j = 0; j < 2; j++)
                    for (int i = 0; i < 2; i++) {
                        int at = clamp(top + j, HEIGHT - 1) * WIDTH + clamp(left + i, WIDTH - 1);
                        double weight = (i ? u - left : 1 - (u - left)) * (j ? v - top : 1 - (v - top));
                        sum += weight * blurred[4 * at + c];
                    }
                out[4 * (y * OUT_WIDTH + x) + c] = sum;
            }
        }
    free(blurred);
}

static cl_mem image(cl_context context, cl_mem_flags flags, cl_channel_type type, size_t width, size_t height, void *data) {
    cl_image_format format = {CL_RGBA, type};
    cl_image_desc description;
    memset(&description, 0, sizeof description);
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = width;
    description.image_height = height;
    cl_int code;
    cl_mem made = clCreateImage(context, flags, &format, &description, data, &code);
    must(code, "make an image");
    return made;
}

/* Enqueues a kernel over all pixels, rounded up to whole groups. */
static cl_event over(cl_command_queue queue, cl_kernel kernel, size_t width, size_t height) {
    size_t local[2] = {GROUP, GROUP};
    size_t global[2] = {(width + GROUP - 1) / GROUP * GROUP, (height + GROUP - 1) / GROUP * GROUP};
    cl_event event;
    must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, &event), "launch a kernel");
    return event;
}

static void write_picture(const char *path, const cl_uchar *pixels) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "error: cannot write %s\n", path);
        exit(1);
    }
    fprintf(file, "P6\n%d %d\n255\n", OUT_WIDTH, OUT_HEIGHT);
    for (int i = 0; i < OUT_WIDTH * OUT_HEIGHT; i++)
        fwrite(pixels + 4 * i, 1, 3, file);
    if (fclose(file) != 0) {
        fprintf(stderr, "error: cannot write %s\n", path);
        exit(1);
    }
}

/* Whether all pixels are those of the host. */
static int verify(const cl_uchar *found, const double *expected) {
    double worst = 0;
    for (int i = 0; i < OUT_WIDTH * OUT_HEIGHT * 4; i++) {
        double difference = fabs(found[i] - expected[i] * 255.0);
        if (difference > 2.0) {
            fprintf(stderr, "error: pixel (%d, %d), channel %d is %d, and should be %.2f\n", i / 4 % OUT_WIDTH,
                    i / 4 / OUT_WIDTH, i % 4, found[i], expected[i] * 255.0);
            return 0;
        }
        worst = difference > worst ? difference : worst;
    }
    printf("%d pixels, largest difference %.3f of 255\n", OUT_WIDTH * OUT_HEIGHT, worst);
    return 1;
}

int main(int argc, char **argv) {
    cl_device_id device = host_device(argc, argv);
    cl_bool images = CL_FALSE;
    must(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL), "ask whether there are images");
    if (!images) {
        fprintf(stderr, "error: the device has no images\n");
        return 1;
    }
    cl_context context = host_context(device);
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    must(code, "make a command queue");
    cl_program program = host_program(context, device, __FILE__, "image_filter.cl", "");
    cl_kernel blur = host_kernel(program, "blur"), resize = host_kernel(program, "resize");

    cl_uchar *picture = host_memory(WIDTH * HEIGHT * 4), *found = host_memory(OUT_WIDTH * OUT_HEIGHT * 4);
    paint(picture);
    cl_float weights[SIDE * SIDE], sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = i % SIDE - RADIUS, y = i / SIDE - RADIUS;
        weights[i] = expf(-(float)(x * x + y * y) / 2.0f);
        sum += weights[i];
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        weights[i] /= sum;

    cl_mem in = image(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, CL_UNORM_INT8, WIDTH, HEIGHT, picture);
    cl_mem blurred = image(context, CL_MEM_READ_WRITE, CL_FLOAT, WIDTH, HEIGHT, NULL);
    cl_mem out = image(context, CL_MEM_WRITE_ONLY, CL_UNORM_INT8, OUT_WIDTH, OUT_HEIGHT, NULL);
    cl_mem table = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof weights, weights, &code);
    must(code, "make a buffer");
    cl_sampler smooth = clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &code);
    must(code, "make a sampler");

    cl_int radius = RADIUS;
    host_argument(blur, 0, sizeof in, &in);
    host_argument(blur, 1, sizeof blurred, &blurred);
    host_argument(blur, 2, sizeof table, &table);
    host_argument(blur, 3, sizeof radius, &radius);
    host_argument(resize, 0, sizeof blurred, &blurred);
    host_argument(resize, 1, sizeof out, &out);
    host_argument(resize, 2, sizeof smooth, &smooth);

    cl_event first = over(queue, blur, WIDTH, HEIGHT), second = over(queue, resize, OUT_WIDTH, OUT_HEIGHT);
    size_t origin[3] = {0, 0, 0}, region[3] = {OUT_WIDTH, OUT_HEIGHT, 1};
    must(clEnqueueReadImage(queue, out, CL_TRUE, origin, region, 0, 0, found, 0, NULL, NULL), "read the image back");
    printf("blur: %.3f ms, resize: %.3f ms\n", host_milliseconds(first), host_milliseconds(second));

    const char *path = host_option(argc, argv, "out");
    if (path != NULL)
        write_picture(path, found);
    double *expected = host_memory(sizeof(double) * OUT_WIDTH * OUT_HEIGHT * 4);
    reference(picture, weights, expected);
    int good = verify(found, expected);

    clReleaseEvent(first);
    clReleaseEvent(second);
    clReleaseSampler(smooth);
    clReleaseMemObject(table);
    clReleaseMemObject(out);
    clReleaseMemObject(blurred);
    clReleaseMemObject(in);
    clReleaseKernel(resize);
    clReleaseKernel(blur);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    free(expected);
    free(found);
    free(picture);
    puts(good ? "right" : "wrong");
    return good ? 0 : 1;
}
