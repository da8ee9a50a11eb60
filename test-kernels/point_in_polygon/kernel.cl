// golden: Python integers
// Points against polygons of many corners: crossings by 64-bit cross products, a polygon's corners in local memory.
__kernel void inside(__global const int2 *points, __global const int2 *corners, __global const int *start, __global uint *mask, int count, int polygons) {
  __local int2 c[32];
  int t = get_local_id(0), i = get_group_id(0) * get_local_size(0) + t;
  int2 p = i < count ? points[i] : (int2)(0);
  uint bits = 0;
  for (int g = 0; g < polygons; g++) {
    int first = start[g], n = start[g + 1] - first;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = t; k < n; k += get_local_size(0))
      c[k] = corners[first + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    bool in = false;
    for (int k = 0, j = n - 1; k < n; j = k++) {
      int2 a = c[j], b = c[k];
      if (a.y > p.y != b.y > p.y) {
        long side = (long)(b.x - a.x) * (p.y - a.y) - (long)(p.x - a.x) * (b.y - a.y);
        if (b.y > a.y ? side > 0 : side < 0)
          in = !in;
      }
    }
    bits |= (uint)in << g;
  }
  if (i < count)
    mask[i] = bits;
}
