// Golden: Python integers.
__kernel void hash64(__global ulong *x) {
  size_t g = get_global_id(0);
  ulong v = x[g], h = v;
  for (int i = 0; i < 20; i++) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdUL;
    h = rotate(h, 27UL);
    h = h * 5 + 0x52dce729 + i;
    h ^= mul_hi(h, v);
  }
  x[g] = h % 1000003 + (h / 7 & 0xffffffff00000000UL);
}
