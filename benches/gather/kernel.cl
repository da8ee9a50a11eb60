// Gathers from random places of a table: nearly every lane reads a line of its own.
__kernel void gather(__global const int *index, __global const float *table, __global float *out) {
  int i = get_global_id(0);
  out[i] = table[index[i]];
}
