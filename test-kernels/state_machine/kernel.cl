// Golden: Python integers.
__kernel void machine(__global const uchar *text, __global int *out, int steps) {
  int g = get_global_id(0);
  int state = 0, acc = 1;
  for (int i = 0; i < steps; i++) {
    int c = text[g * steps + i];
    bool stop = false;
    switch (state) {
    case 0: state = c < 4 ? 1 : c == 7 ? 2 : 0; acc += c; break;
    case 1: state = c & 1 ? 3 : 1; acc = (int)((uint)acc * 3u + 1u); break;
    case 2: acc ^= c << 3; state = c > 9 ? 5 : 4; break;
    case 3: acc -= 7; state = acc % 2 == 0 ? 0 : 4; break;
    case 4: state = c % 6; break;
    default: acc /= 2; stop = true;
    }
    if (stop)
      break;
  }
  out[g] = (acc < (1 << 27) && acc > -(1 << 27)) ? acc * 8 + state : state;
}
