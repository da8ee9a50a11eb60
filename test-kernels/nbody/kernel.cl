// Golden: numpy float64.
__kernel void nbody(__global const float4 *p, __global float4 *a, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float4 me = p[i];
  float3 sum = (float3)(0.0f);
  for (int j = 0; j < n; j++) {
    float4 other = p[j];
    float3 d = other.xyz - me.xyz;
    float r2 = dot(d, d) + 0.01f;
    sum += d * (other.w / (r2 * sqrt(r2)));
  }
  a[i] = (float4)(sum, 0.0f);
}
