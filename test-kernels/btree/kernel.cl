// golden: a Python dictionary
#define ORDER 8
typedef struct { int key[ORDER]; int child[ORDER]; } Node;
// A group searches one key; each work-item looks at one slot.
__kernel void find(__global const Node *nodes, __global const int *values, __global const int *queries, __global int *found, int root, int height) {
  __local int next;
  int t = get_local_id(0), key = queries[get_group_id(0)], at = root;
  for (int h = height; h > 1; h--) {
    __global const Node *node = &nodes[at];
    if (t == 0)
      next = node->child[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t + 1 < ORDER && node->key[t] <= key && key < node->key[t + 1])
      next = node->child[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    at = next;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0)
    found[get_group_id(0)] = -1;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (nodes[at].key[t] == key)
    found[get_group_id(0)] = values[nodes[at].child[t]];
}
