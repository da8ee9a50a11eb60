// golden: numpy float64 with error bounds
struct State {
  float rho, mx, my, energy;
};
struct Derived {
  float u, v, p;
  __device__ explicit Derived(const State &s) : u(s.mx / s.rho), v(s.my / s.rho) { p = 0.4f * (s.energy - 0.5f * (u * s.mx + v * s.my)); }
};
__device__ State load(const float *v, int i, int n) { return {v[i], v[n + i], v[2 * n + i], v[3 * n + i]}; }
extern "C" __global__ void flux(const float *v, const int *near, const float *normal, float *out, State far, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  State me = load(v, i, n), sum = {0.0f, 0.0f, 0.0f, 0.0f};
  Derived a(me);
  for (int k = 0; k < 3; k++) {
    int at = near[k * n + i];
    float nx = normal[2 * k * n + i], ny = normal[(2 * k + 1) * n + i];
    if (at == -1) { // a wall
      sum.mx += a.p * nx;
      sum.my += a.p * ny;
    } else {
      State o = at == -2 ? far : load(v, at, n);
      Derived b(o);
      float va = a.u * nx + a.v * ny, vb = b.u * nx + b.v * ny;
      sum.rho += 0.5f * (me.rho * va + o.rho * vb - 0.3f * (o.rho - me.rho));
      sum.mx += 0.5f * (me.mx * va + a.p * nx + (o.mx * vb + b.p * nx) - 0.3f * (o.mx - me.mx));
      sum.my += 0.5f * (me.my * va + a.p * ny + (o.my * vb + b.p * ny) - 0.3f * (o.my - me.my));
      sum.energy += 0.5f * ((me.energy + a.p) * va + (o.energy + b.p) * vb - 0.3f * (o.energy - me.energy));
    }
  }
  out[i] = me.rho - dt * sum.rho;
  out[n + i] = me.mx - dt * sum.mx;
  out[2 * n + i] = me.my - dt * sum.my;
  out[3 * n + i] = me.energy - dt * sum.energy;
}
