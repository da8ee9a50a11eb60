// The extensions of sub-groups that may be called by some of their work-items: cl_khr_subgroup_ballot, cl_khr_subgroup_non_uniform_vote,
// cl_khr_subgroup_non_uniform_arithmetic, cl_khr_subgroup_clustered_reduce. Who takes part is asked with a ballot; then all of them go over the same lanes,
// because the value of a lane is there for the others only as long as it takes part.

static ulong active_lanes(void) { return __heddle_ballot(1); }
static ulong all_lanes(void) { return ~0ul >> (64 - __heddle_warp_size()); }
static ulong lanes_below(void) { return (1ul << __heddle_lane()) - 1; }
static ulong lanes_to(void) { return 2ul * lanes_below() + 1; }
static uint lowest(ulong lanes) { return (uint)ctz(lanes); }
static ulong lanes_of(uint4 ballot) { return as_ulong(ballot.xy) & all_lanes(); }
static uint4 as_ballot(ulong lanes) { return (uint4)(as_uint2(lanes), 0, 0); }

OVERLOAD uint4 sub_group_ballot(int predicate) { return as_ballot(__heddle_ballot(predicate)); }
OVERLOAD int sub_group_inverse_ballot(uint4 x) { return (int)(as_ulong(x.xy) >> __heddle_lane()) & 1; }
OVERLOAD int sub_group_ballot_bit_extract(uint4 x, uint lane) { return (int)(as_ulong(x.xy) >> (lane & 63)) & 1; }
OVERLOAD uint sub_group_ballot_bit_count(uint4 x) { return (uint)popcount(lanes_of(x)); }
OVERLOAD uint sub_group_ballot_inclusive_scan(uint4 x) { return (uint)popcount(lanes_of(x) & lanes_to()); }
OVERLOAD uint sub_group_ballot_exclusive_scan(uint4 x) { return (uint)popcount(lanes_of(x) & lanes_below()); }
OVERLOAD uint sub_group_ballot_find_lsb(uint4 x) { return lowest(lanes_of(x)); }
OVERLOAD uint sub_group_ballot_find_msb(uint4 x) { return 63 - (uint)clz(lanes_of(x)); }
OVERLOAD uint4 get_sub_group_eq_mask(void) { return as_ballot(1ul << __heddle_lane()); }
OVERLOAD uint4 get_sub_group_lt_mask(void) { return as_ballot(lanes_below()); }
OVERLOAD uint4 get_sub_group_le_mask(void) { return as_ballot(lanes_to()); }
OVERLOAD uint4 get_sub_group_gt_mask(void) { return as_ballot(all_lanes() & ~lanes_to()); }
OVERLOAD uint4 get_sub_group_ge_mask(void) { return as_ballot(all_lanes() & ~lanes_below()); }

OVERLOAD int sub_group_elect(void) { return __heddle_lane() == lowest(active_lanes()); }
OVERLOAD int sub_group_non_uniform_all(int x) { return __heddle_ballot(x == 0) == 0; }
OVERLOAD int sub_group_non_uniform_any(int x) { return __heddle_ballot(x) != 0; }

#define SOME_LANES(T) \
  OVERLOAD int sub_group_non_uniform_all_equal(T x) { return __heddle_ballot(!(x == from_##T(x, lowest(active_lanes())))) == 0; } \
  OVERLOAD T sub_group_broadcast_first(T x) { return from_##T(x, lowest(active_lanes())); } \
  OVERLOAD T sub_group_non_uniform_broadcast(T x, uint lane) { return from_##T(x, lane); } \
  OVERLOAD T##2 sub_group_non_uniform_broadcast(T##2 x, uint lane) { return sub_group_broadcast(x, lane); } \
  OVERLOAD T##3 sub_group_non_uniform_broadcast(T##3 x, uint lane) { return sub_group_broadcast(x, lane); } \
  OVERLOAD T##4 sub_group_non_uniform_broadcast(T##4 x, uint lane) { return sub_group_broadcast(x, lane); } \
  OVERLOAD T##8 sub_group_non_uniform_broadcast(T##8 x, uint lane) { return sub_group_broadcast(x, lane); } \
  OVERLOAD T##16 sub_group_non_uniform_broadcast(T##16 x, uint lane) { return sub_group_broadcast(x, lane); }
SOME_LANES(char) SOME_LANES(uchar) SOME_LANES(short) SOME_LANES(ushort) SOME_LANES(int) SOME_LANES(uint) SOME_LANES(long) SOME_LANES(ulong)
SOME_LANES(half) SOME_LANES(float) SOME_LANES(double)

// Of those lanes `i` that take part and for which the condition holds.
#define OVER_LANES(T, IDENTITY, EXPRESSION, CONDITION) { \
    T a = IDENTITY; \
    for (ulong lanes = active_lanes(); lanes != 0; lanes &= lanes - 1) { \
      uint i = lowest(lanes); \
      T b = from_##T(x, i); \
      a = CONDITION ? (T)(EXPRESSION) : a; \
    } \
    return a; \
  }
#define SOME_COMBINE(T, NAME, IDENTITY, EXPRESSION) \
  OVERLOAD T sub_group_non_uniform_reduce_##NAME(T x) OVER_LANES(T, IDENTITY, EXPRESSION, true) \
  OVERLOAD T sub_group_non_uniform_scan_inclusive_##NAME(T x) OVER_LANES(T, IDENTITY, EXPRESSION, i <= __heddle_lane()) \
  OVERLOAD T sub_group_non_uniform_scan_exclusive_##NAME(T x) OVER_LANES(T, IDENTITY, EXPRESSION, i < __heddle_lane()) \
  OVERLOAD T sub_group_clustered_reduce_##NAME(T x, uint size) OVER_LANES(T, IDENTITY, EXPRESSION, (i ^ __heddle_lane()) < size)
#define SOME_NUMBERS(T, LOW, HIGH) \
  SOME_COMBINE(T, add, 0, a + b) SOME_COMBINE(T, mul, 1, a * b) SOME_COMBINE(T, min, HIGH, b < a ? b : a) SOME_COMBINE(T, max, LOW, b > a ? b : a)
#define SOME_INTEGERS(T, LOW, HIGH) \
  SOME_NUMBERS(T, LOW, HIGH) SOME_COMBINE(T, and, (T)~(T)0, a & b) SOME_COMBINE(T, or, 0, a | b) SOME_COMBINE(T, xor, 0, a ^ b)
SOME_INTEGERS(char, CHAR_MIN, CHAR_MAX)
SOME_INTEGERS(uchar, 0, UCHAR_MAX)
SOME_INTEGERS(short, SHRT_MIN, SHRT_MAX)
SOME_INTEGERS(ushort, 0, USHRT_MAX)
SOME_INTEGERS(int, INT_MIN, INT_MAX)
SOME_INTEGERS(uint, 0, UINT_MAX)
SOME_INTEGERS(long, LONG_MIN, LONG_MAX)
SOME_INTEGERS(ulong, 0, ULONG_MAX)
SOME_NUMBERS(half, -INFINITY, INFINITY)
SOME_NUMBERS(float, -INFINITY, INFINITY)
SOME_NUMBERS(double, -INFINITY, INFINITY)
SOME_COMBINE(int, logical_and, 1, a && b)
SOME_COMBINE(int, logical_or, 0, a || b)
SOME_COMBINE(int, logical_xor, 0, a ^ (b != 0))
