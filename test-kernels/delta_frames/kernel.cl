// golden: numpy integers
typedef struct {
  ushort first;
  uchar width, count;
  uint at;
} frame;
// Frames of deltas packed into few bits: a group a frame, values by a scan in local memory.
__kernel void unpack(__global const frame *frames, __global const uint *words, __global ushort *out, int most) {
  __local uint s[32];
  int t = get_local_id(0), g = get_group_id(0);
  frame f = frames[g];
  uint delta = 0;
  if (t > 0 && t < f.count) {
    uint bit = (t - 1) * f.width;
    ulong pair = words[f.at + bit / 32] | (ulong)words[f.at + bit / 32 + 1] << 32;
    delta = (uint)(pair >> bit % 32) & ((1u << f.width) - 1);
    delta = delta >> 1 ^ -(delta & 1);
  }
  s[t] = t == 0 ? f.first : delta;
  for (int step = 1; step < get_local_size(0); step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint other = t >= step ? s[t - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    s[t] += other;
  }
  if (t < f.count)
    out[g * most + t] = s[t];
}
