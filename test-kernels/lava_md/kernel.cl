// golden: numpy float64 with error bounds
#define PER 10
typedef struct { int count; int near[9]; } Box;
__kernel void forces(__global const Box *boxes, __global const float4 *pos, __global const float *charge, __global float4 *force) {
  __local float4 p[PER];
  __local float q[PER];
  int b = get_group_id(0), t = get_local_id(0);
  float4 me = pos[b * PER + t], sum = (float4)(0.0f);
  __global const Box *box = boxes + b;
  for (int k = 0; k < box->count; k++) {
    int other = box->near[k] * PER + t;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[t] = pos[other];
    q[t] = charge[other];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < PER; i++) {
      float4 d = me - p[i];
      float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
      float u = exp(-0.5f * r2) * q[i];
      sum += (float4)(u, 2.0f * u * d.xyz);
    }
  }
  force[b * PER + t] = sum;
}
