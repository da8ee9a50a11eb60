// An iterative solver with many small launches: conjugate gradients for a Poisson equation on a
// square, in C++ with the bindings of <CL/opencl.hpp>.
//
//     c++ -O2 -o solver examples/opencl/solver.cpp -lOpenCL
//     ./solver [--size N] [--platform NAME]
//
// Seven launches make a step, and the host only looks at the residual now and then. It then checks in double
// precision that what was found solves the equations, and that it is the solution that they were made
// of; the exit code is 1 if not, or if OpenCL fails.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int GROUP = 64;
constexpr int DOT_GROUPS = 8;
constexpr int LOOK_EVERY = 16;
/// The residual's norm over that of the right side at which the solver stops.
constexpr double SMALL = 1e-5;

/// Places in the buffer of scalars, as in solver.cl.
enum Scalar { RR, PAP, NEW_RR };

struct Arguments {
    int size = 40;
    std::string platform;
};

Arguments parse(int argc, char **argv) {
    Arguments arguments;
    for (int i = 1; i < argc; i++) {
        std::string name = argv[i];
        if (i + 1 == argc)
            throw std::invalid_argument(name + " needs a value");
        std::string value = argv[++i];
        if (name == "--platform") {
            arguments.platform = value;
        } else if (name == "--size") {
            char *end = nullptr;
            long size = std::strtol(value.c_str(), &end, 10);
            if (*end != '\0' || size < 2 || size > 2000)
                throw std::invalid_argument("--size is a number from 2 to 2000, not " + value);
            arguments.size = static_cast<int>(size);
        } else {
            throw std::invalid_argument("unknown option " + name + "; there are --size and --platform");
        }
    }
    return arguments;
}

cl::Device choose(const std::string &wanted) {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    for (const cl::Platform &platform : platforms) {
        std::string name = platform.getInfo<CL_PLATFORM_NAME>();
        if (name.find(wanted) == std::string::npos)
            continue;
        std::vector<cl::Device> devices;
        try {
            platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
        } catch (const cl::Error &) {
            continue; // A platform without devices is none to stop at.
        }
        if (devices.empty())
            continue;
        std::printf("%s: %s\n", name.c_str(), devices[0].getInfo<CL_DEVICE_NAME>().c_str());
        return devices[0];
    }
    throw std::runtime_error("no OpenCL device" + (wanted.empty() ? "" : " of a platform named like " + wanted));
}

/// The kernels, which lie beside this file.
cl::Program build(const cl::Context &context) {
    std::string path = __FILE__;
    path = path.substr(0, path.find_last_of('/') + 1) + "solver.cl";
    std::ifstream file(path);
    if (!file)
        throw std::runtime_error("cannot read the kernels in " + path);
    std::stringstream text;
    text << file.rdbuf();
    cl::Program program(context, text.str());
    try {
        program.build();
    } catch (const cl::BuildError &error) {
        for (const auto &log : error.getBuildLog())
            std::fprintf(stderr, "%s\n", log.second.c_str());
        throw;
    }
    return program;
}

/// A x in double precision.
std::vector<double> stencil(const std::vector<double> &x, int n) {
    std::vector<double> y(x.size());
    auto at = [&](int i, int j) { return i < 0 || j < 0 || i >= n || j >= n ? 0.0 : x[static_cast<size_t>(j) * n + i]; };
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            y[static_cast<size_t>(j) * n + i] = 4 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
    return y;
}

double norm(const std::vector<double> &v) {
    double sum = 0;
    for (double x : v)
        sum += x * x;
    return std::sqrt(sum);
}

/// The solver on a device: its buffers and kernels.
class Solver {
  public:
    Solver(const cl::Context &context, const cl::Device &device, int size)
        : n(size), count(size * size), queue(context, device), program(build(context)),
          x(context, CL_MEM_READ_WRITE, bytes()), r(context, CL_MEM_READ_WRITE, bytes()),
          p(context, CL_MEM_READ_WRITE, bytes()), q(context, CL_MEM_READ_WRITE, bytes()),
          sums(context, CL_MEM_READ_WRITE, DOT_GROUPS * sizeof(float)), scalars(context, CL_MEM_READ_WRITE, 3 * sizeof(float)),
          stencil_kernel(program, "stencil"), groups_kernel(program, "dot_groups"), total_kernel(program, "dot_total"),
          advance_kernel(program, "advance"), direction_kernel(program, "direction") {}

    /// Solves A x = b from x = 0; returns the steps it took.
    int solve(const std::vector<float> &b, std::vector<float> &solution) {
        queue.enqueueFillBuffer(x, 0.0f, 0, bytes());
        queue.enqueueWriteBuffer(r, CL_FALSE, 0, bytes(), b.data());
        queue.enqueueCopyBuffer(r, p, 0, 0, bytes());
        dot(r, r, RR);
        const double first = scalar(RR);
        int steps = 0;
        for (double now = first; now > SMALL * SMALL * first; now = scalar(RR)) {
            if (steps > 20 * n)
                throw std::runtime_error("no solution within " + std::to_string(steps) + " steps");
            for (int i = 0; i < LOOK_EVERY; i++, steps++)
                one_step();
        }
        solution.resize(static_cast<size_t>(count));
        queue.enqueueReadBuffer(x, CL_TRUE, 0, bytes(), solution.data());
        return steps;
    }

    int launches = 0;

  private:
    void one_step() {
        stencil_kernel.setArg(0, p);
        stencil_kernel.setArg(1, q);
        stencil_kernel.setArg(2, n);
        int side = (n + 7) / 8 * 8;
        launch(stencil_kernel, cl::NDRange(side, side), cl::NDRange(8, 8));
        dot(p, q, PAP);
        advance_kernel.setArg(0, x);
        advance_kernel.setArg(1, r);
        advance_kernel.setArg(2, p);
        advance_kernel.setArg(3, q);
        advance_kernel.setArg(4, scalars);
        advance_kernel.setArg(5, count);
        launch(advance_kernel, all(), cl::NDRange(GROUP));
        dot(r, r, NEW_RR);
        direction_kernel.setArg(0, p);
        direction_kernel.setArg(1, r);
        direction_kernel.setArg(2, scalars);
        direction_kernel.setArg(3, count);
        launch(direction_kernel, all(), cl::NDRange(GROUP));
        queue.enqueueCopyBuffer(scalars, scalars, NEW_RR * sizeof(float), RR * sizeof(float), sizeof(float));
    }

    void dot(const cl::Buffer &a, const cl::Buffer &b, Scalar to) {
        groups_kernel.setArg(0, a);
        groups_kernel.setArg(1, b);
        groups_kernel.setArg(2, count);
        groups_kernel.setArg(3, sums);
        groups_kernel.setArg(4, cl::Local(GROUP * sizeof(float)));
        launch(groups_kernel, cl::NDRange(GROUP * DOT_GROUPS), cl::NDRange(GROUP));
        total_kernel.setArg(0, sums);
        total_kernel.setArg(1, DOT_GROUPS);
        total_kernel.setArg(2, scalars);
        total_kernel.setArg(3, static_cast<int>(to));
        launch(total_kernel, cl::NDRange(1), cl::NDRange(1));
    }

    void launch(const cl::Kernel &kernel, const cl::NDRange &global, const cl::NDRange &local) {
        queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local);
        launches++;
    }

    double scalar(Scalar which) {
        float value = 0;
        queue.enqueueReadBuffer(scalars, CL_TRUE, which * sizeof(float), sizeof value, &value);
        return value;
    }

    cl::NDRange all() const { return cl::NDRange((count + GROUP - 1) / GROUP * GROUP); }
    size_t bytes() const { return static_cast<size_t>(count) * sizeof(float); }

    int n, count;
    cl::CommandQueue queue;
    cl::Program program;
    cl::Buffer x, r, p, q, sums, scalars;
    cl::Kernel stencil_kernel, groups_kernel, total_kernel, advance_kernel, direction_kernel;
};

int run(const Arguments &arguments) {
    cl::Device device = choose(arguments.platform);
    cl::Context context(device);
    const int n = arguments.size;
    std::vector<double> truth(static_cast<size_t>(n) * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            truth[static_cast<size_t>(j) * n + i] = std::sin(0.37 * i) + std::cos(0.21 * i * j) - 0.5;
    const std::vector<double> right = stencil(truth, n);
    const std::vector<float> b(right.begin(), right.end());

    Solver solver(context, device, n);
    std::vector<float> found;
    auto started = std::chrono::steady_clock::now();
    int steps = solver.solve(b, found);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    std::printf("%d equations, %d steps, %d launches in %.3f s: %.1f µs each\n", n * n, steps, solver.launches, seconds,
                seconds / solver.launches * 1e6);

    const std::vector<double> x(found.begin(), found.end());
    std::vector<double> residual = stencil(x, n), error = x;
    for (size_t i = 0; i < x.size(); i++) {
        residual[i] -= right[i];
        error[i] -= truth[i];
    }
    // What is left of the equations is of the solver's bound and of rounding. The matrix's condition, of
    // the order of n², is between that and the solution, but a right side with all frequencies in it
    // is far from the worst one.
    const double left = norm(residual) / norm(right), off = norm(error) / norm(truth);
    const double bound = 4 * SMALL, far = bound * n;
    std::printf("residual %.2e of the right side, error %.2e of the solution\n", left, off);
    if (!(left < bound) || !(off < far)) {
        std::fprintf(stderr, "error: the bounds are %.2e and %.2e\n", bound, far);
        std::puts("wrong");
        return 1;
    }
    std::puts("right");
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(parse(argc, argv));
    } catch (const cl::Error &error) {
        std::fprintf(stderr, "error: %s failed with code %d\n", error.what(), error.err());
        return 1;
    } catch (const std::invalid_argument &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}
