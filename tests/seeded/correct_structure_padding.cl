// RUN: --kernel k --global 64 --local 32 --arg out=zeros:int64:64 --arg in=random:int32:64
// EXPECT: no report
// Copies of structures take their padding along, which nothing has written.
struct part { uint x; short y; ulong z; };
struct whole { char tag; struct part parts[2]; short4 v; long last; };
struct part turn(struct part p, uint k) { p.x ^= k; p.z = p.z << 9 | p.z >> 55; return p; }
__kernel void k(__global long *out, __global const int *in) {
  uint i = get_global_id(0);
  struct part s = {1, 2, 3}, t = {i, 4, 5};
  struct whole w = {1, {s, t}, (short4)(1, 2, 3, (short)i), -5}, list[3];
  for (int n = 0; n < 3; n++) {
    w.parts[(in[i] + n) & 1] = turn(w.parts[n & 1], n);
    list[n] = w;
  }
  struct whole chosen = list[(uint)in[i] % 3];
  out[i] = chosen.tag + chosen.parts[in[i] & 1].x + chosen.parts[1].z + chosen.v.w + chosen.last;
}
