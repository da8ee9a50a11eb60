// golden: numpy sort
// For warps of 32 lanes, as CUDA has them.
// Every warp sorts 32 keys by exchanges, and carries their places along.
extern "C" __global__ void sort(unsigned *keys, int *places, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  unsigned key = i < n ? keys[i] : 0xffffffffu;
  int place = i < n ? lane : 32 + lane;
  for (int size = 2; size <= 32; size *= 2)
    for (int by = size / 2; by > 0; by /= 2) {
      unsigned other = __shfl_xor_sync(0xffffffffu, key, by);
      int whose = __shfl_xor_sync(0xffffffffu, place, by);
      bool low = !(lane & by), up = !(lane & size) || size == 32;
      bool less = key < other || (key == other && place < whose);
      if (less != (low == up)) {
        key = other;
        place = whose;
      }
    }
  if (i < n) {
    keys[i] = key;
    places[i] = place;
  }
}
