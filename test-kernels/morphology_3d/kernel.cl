// golden: numpy integers
// Erosion and dilation by a sphere, edges clamped; positions as vectors of int, sizes as vector arguments.
inline uchar at(__global const uchar *in, int4 size, int4 p) {
  p = clamp(p, (int4)(0), size - 1);
  return in[(p.z * size.y + p.y) * size.x + p.x];
}
__kernel void sphere(__global const uchar *in, __global uchar *low, __global uchar *high, int4 size, int4 radius) {
  const int4 here = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
  if (any(here.xyz >= size.xyz))
    return;
  const float4 r = convert_float4(radius * radius + 1);
  uchar least = 255, most = 0;
  for (int z = -radius.z; z <= radius.z; z++)
    for (int y = -radius.y; y <= radius.y; y++)
      for (int x = -radius.x; x <= radius.x; x++)
        if (x * x / r.x + y * y / r.y + z * z / r.z <= 1.0f) {
          const uchar v = at(in, size, here + (int4)(x, y, z, 0));
          least = min(least, v);
          most = max(most, v);
        }
  const int i = (here.z * size.y + here.y) * size.x + here.x;
  low[i] = least;
  high[i] = most;
}
