// golden: numpy float64 with error bounds
extern "C" __global__ void cells(const double *current, double *voltage, double *gates, double dt, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  double v = voltage[i], m = 0.05, h = 0.6, k = 0.32;
  for (int s = 0; s < steps; s++) {
    double rest = exp((v + 65.0) * -0.05);
    double am = (v + 40.0) * 0.1 / (1.0 - exp((v + 40.0) * -0.1)), bm = rest * 4.0;
    double ah = rest * 0.07, bh = 1.0 / (1.0 + exp((v + 35.0) * -0.1));
    double an = (v + 55.0) * 0.01 / (1.0 - exp((v + 55.0) * -0.1)), bn = exp((v + 65.0) * -0.0125) * 0.125;
    double ina = m * m * m * h * 120.0 * (v - 50.0), ik = k * k * k * k * 36.0 * (v + 77.0), il = (v + 54.4) * 0.3;
    m += (am * (1.0 - m) - bm * m) * dt;
    h += (ah * (1.0 - h) - bh * h) * dt;
    k += (an * (1.0 - k) - bn * k) * dt;
    v += (current[i] - ina - ik - il) * dt;
  }
  voltage[i] = v;
  gates[i] = m;
  gates[n + i] = h;
  gates[2 * n + i] = k;
}
