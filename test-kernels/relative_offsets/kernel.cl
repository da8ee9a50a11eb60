// golden: Python integers
// As libraries write that keep graphs of objects in one buffer: references are distances from where they stand, in 64 bits, and
// most lead down. Kernels get pointers into the middle of buffers.
typedef struct {
  int kind, a, b, spare;
} Record;

__kernel void follow(__global const char *table, int n, __global int *middle, int below) {
  int id = get_global_id(0);
  uint x = id * 2654435761u;
  for (int e = 0; e < n; e++) {
    __global const long *entry = (__global const long *)table + e;
    __global const Record *record = (__global const Record *)((__global const char *)entry + *entry);
    switch (record->kind) {
    case 0:
      x = x * record->a + record->b;
      break;
    case 1:
      x ^= x >> (record->a & 31);
      break;
    default:
      x += record->b;
    }
  }
  // Of each work-item's own, one of two.
  __global const long *entry = (__global const long *)table + x % n;
  __global const char *one = (__global const char *)entry + *entry, *other = table - 16 * (1 + id % n);
  __global const Record *record = (__global const Record *)(x & 64 ? one : other);
  x += record->a;
  // What is before the table, from behind.
  __global const int *word = (__global const int *)table;
  for (int k = id % 7; k > 0; k--)
    x = x * 31 + *--word;
  middle[id - below] = x;
}

// Sums in the middle of a buffer, at a place of each work-item's own and at one of all.
__kernel void count(__global int *counts) {
  int id = get_global_id(0);
  atomic_add(&counts[id % 24 - 8], id);
  atomic_add(&counts[-9], 3);
}

// The pointer that ends the loop is one element before the buffer.
__kernel void backward(__global const int *begin, int n, __global uint *hash) {
  uint x = get_global_id(0);
  for (__global const int *p = begin + n - 1; p >= begin; p--)
    x = x * 33 ^ *p;
  hash[get_global_id(0)] = x;
}
