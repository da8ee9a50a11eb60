// Segments of rows are moved by sizes and offsets that data says, in all memories. `TYPE` is what the pointers promise of alignment.
#define ROW 96

#define MOVER(NAME, TYPE)                                                                                    \
  kernel void NAME(global uchar *rows, global const int4 *moves) {                                           \
    int i = get_global_id(0);                                                                                \
    int4 move = moves[i];                                                                                    \
    global uchar *row = rows + ROW * i;                                                                      \
    local uchar shared[16 * ROW] __attribute__((aligned(16)));                                               \
    uchar own[ROW] __attribute__((aligned(16)));                                                             \
    local uchar *mine = shared + ROW * get_local_id(0);                                                      \
    __builtin_memcpy((local TYPE *)mine, (global TYPE *)row, move.w);                                        \
    __builtin_memcpy((TYPE *)own, (global TYPE *)row, move.w);                                               \
    uchar *any = i % 3 == 0 ? (uchar *)row : i % 3 == 1 ? (uchar *)mine : own;                               \
    __builtin_memmove((TYPE *)(any + move.x), (TYPE *)(any + move.y), move.z);                               \
    __builtin_memset((TYPE *)(any + move.y), i, move.z / 2);                                                 \
    if (i % 3 != 0)                                                                                          \
      __builtin_memcpy((global TYPE *)row, (TYPE *)any, move.w);                                             \
  }

MOVER(by_bytes, uchar)
MOVER(by_shorts, short)
MOVER(by_words, int)
MOVER(by_quads, int4)

// A large structure, whose copy is a loop or goes through few registers.
typedef struct {
  int words[300];
} large;

kernel void by_value(global const large *from, global large *to) {
  large x = from[get_global_id(0)];
  x.words[get_local_id(0)] += 1;
  to[get_global_id(0)] = x;
}
