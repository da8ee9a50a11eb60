// golden: numpy float64 with error bounds
#define PER 10
struct Box {
  int count;
  int near[9];
};
extern "C" __global__ void forces(const Box *boxes, const float4 *pos, const float *charge, float4 *force) {
  __shared__ float4 p[PER];
  __shared__ float q[PER];
  int b = blockIdx.x, t = threadIdx.x;
  float4 me = pos[b * PER + t], sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const Box *box = boxes + b;
  for (int k = 0; k < box->count; k++) {
    int other = box->near[k] * PER + t;
    __syncthreads();
    p[t] = pos[other];
    q[t] = charge[other];
    __syncthreads();
    for (int i = 0; i < PER; i++) {
      float dx = me.x - p[i].x, dy = me.y - p[i].y, dz = me.z - p[i].z;
      float r2 = dx * dx + dy * dy + dz * dz;
      float u = expf(-0.5f * r2) * q[i];
      // Products of their own, as they are in OpenCL C's vector: not part of the sums.
      float fx = 2.0f * u * dx, fy = 2.0f * u * dy, fz = 2.0f * u * dz;
      sum.x += u;
      sum.y += fx;
      sum.z += fy;
      sum.w += fz;
    }
  }
  force[b * PER + t] = sum;
}
