// golden: numpy reductions
// A reduction whose type, operation and block are parameters of a template; shared memory of the launch's size.
struct Sum {
  template <typename T> static __device__ T neutral() { return T(0); }
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Maximum {
  template <typename T> static __device__ T neutral() { return T(-1000000); }
  template <typename T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <typename T, typename Operation, int BLOCK> __global__ void reduce(const T *in, T *out, int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  T *s = reinterpret_cast<T *>(memory);
  Operation combine;
  T v = Operation::template neutral<T>();
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x)
    v = combine(v, in[i]);
  s[threadIdx.x] = v;
  __syncthreads();
#pragma unroll
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      s[threadIdx.x] = combine(s[threadIdx.x], s[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = s[0];
}
template __global__ void reduce<int, Sum, 64>(const int *, int *, int);
template __global__ void reduce<double, Maximum, 128>(const double *, double *, int);
// Only what is asked for is instantiated.
template <typename T> __global__ void scale(T *a, T by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto scaled = [by](T v) { return v * by; };
  if (i < n)
    a[i] = scaled(a[i]);
}
