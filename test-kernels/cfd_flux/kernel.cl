// golden: numpy float64 with error bounds
typedef struct { float rho, mx, my, energy; } State;
typedef struct { float u, v, p; } Derived;
Derived derive(State s) {
  Derived d = {s.mx / s.rho, s.my / s.rho, 0.0f};
  d.p = 0.4f * (s.energy - 0.5f * (d.u * s.mx + d.v * s.my));
  return d;
}
State load(__global const float *v, int i, int n) {
  State s = {v[i], v[n + i], v[2 * n + i], v[3 * n + i]};
  return s;
}
__kernel void flux(__global const float *v, __global const int *near, __global const float *normal, __global float *out, State far, float dt, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  State me = load(v, i, n), sum = {0.0f, 0.0f, 0.0f, 0.0f};
  Derived a = derive(me);
  for (int k = 0; k < 3; k++) {
    int at = near[k * n + i];
    float nx = normal[2 * k * n + i], ny = normal[(2 * k + 1) * n + i];
    if (at == -1) { // a wall
      sum.mx += a.p * nx;
      sum.my += a.p * ny;
    } else {
      State o;
      if (at == -2)
        o = far;
      else
        o = load(v, at, n);
      Derived b = derive(o);
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
