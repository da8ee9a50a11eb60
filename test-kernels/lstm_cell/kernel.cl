// golden: numpy float64 with error bounds
// A step of a recurrent cell: four gates a unit, a unit a work-item; inputs and state stand in local memory.
float sigmoid(float x) {
  return 1.0f / (1.0f + exp(-x));
}
__kernel void cell(__global const float *x, __global const float *h, __global const float *c, __global const float *weight, __global const float *bias,
                   __global float *new_h, __global float *new_c, int inputs, int units) {
  __local float s[64];
  int j = get_local_id(0), row = get_group_id(0), n = inputs + units;
  for (int k = j; k < n; k += units)
    s[k] = k < inputs ? x[row * inputs + k] : h[row * units + k - inputs];
  barrier(CLK_LOCAL_MEM_FENCE);
  float gate[4];
  for (int g = 0; g < 4; g++)
    gate[g] = bias[g * units + j];
  for (int k = 0; k < n; k++)
    for (int g = 0; g < 4; g++)
      gate[g] += s[k] * weight[(k * 4 + g) * units + j];
  float state = sigmoid(gate[1]) * c[row * units + j] + sigmoid(gate[0]) * tanh(gate[2]);
  new_c[row * units + j] = state;
  new_h[row * units + j] = sigmoid(gate[3]) * tanh(state);
}
