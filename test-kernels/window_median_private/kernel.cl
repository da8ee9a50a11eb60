// golden: numpy integers
// A window is gathered into a private array, searched and sorted there by computed indices.
#define MOST 27
__kernel void rank(__global const ushort *in, __global ushort *out, __global uchar *place, int width, int height, int depth,
                   int radius, int rank) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= width || y >= height)
    return;
  ushort found[MOST];
  int count = 0;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -radius; dy <= radius; dy++)
      for (int dx = -radius; dx <= radius; dx++) {
        int u = x + dx, v = y + dy, w = z + dz;
        if (u >= 0 && u < width && v >= 0 && v < height && w >= 0 && w < depth)
          found[count++] = in[(w * height + v) * width + u];
      }
  int wanted = min(rank, count - 1);
  for (int i = 0; i <= wanted; i++) {
    int least = i;
    for (int j = i + 1; j < count; j++)
      if (found[j] < found[least])
        least = j;
    ushort t = found[i];
    found[i] = found[least];
    found[least] = t;
  }
  int at = (z * height + y) * width + x;
  out[at] = found[wanted];
  place[at] = count;
}
