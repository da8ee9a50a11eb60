// golden: numpy integers
#define H 26
#define W 3
void add(uint x, uint *one, uint *two, uint *four) {
  uint carry = *one & x;
  *one ^= x;
  uint more = *two & carry;
  *two ^= carry;
  *four |= more;
}
__kernel __attribute__((reqd_work_group_size(W, H, 1))) void life(__global uint *cells, int steps) {
  __local uint s[H][W];
  int x = get_local_id(0), y = get_local_id(1), left = (x + W - 1) % W, right = (x + 1) % W;
  s[y][x] = cells[y * W + x];
  for (int k = 0; k < steps; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint one = 0, two = 0, four = 0, me = s[y][x];
    for (int d = -1; d <= 1; d++) {
      __local uint *row = s[(y + d + H) % H];
      uint c = row[x];
      add(c << 1 | row[left] >> 31, &one, &two, &four);
      add(c >> 1 | row[right] << 31, &one, &two, &four);
      if (d != 0)
        add(c, &one, &two, &four);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    s[y][x] = two & ~four & (one | me); // three, or two and alive; eight neighbours carry out of four, which stays set
  }
  cells[y * W + x] = s[y][x];
}
