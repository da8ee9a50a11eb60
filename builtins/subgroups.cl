// The extensions of sub-groups that need nothing but the value of another lane: cl_khr_subgroup_extended_types, cl_khr_subgroup_shuffle,
// cl_khr_subgroup_shuffle_relative, cl_khr_subgroup_rotate. What a lane outside the sub-group returns is undefined.

#define LANE_SMALL(T) \
  static T from_##T(T x, uint lane) { return (T)__heddle_shuffle((uint)x, lane); }
LANE_SMALL(char) LANE_SMALL(uchar) LANE_SMALL(short) LANE_SMALL(ushort)
SUB_GROUPS(char, CHAR_MIN, CHAR_MAX)
SUB_GROUPS(uchar, 0, UCHAR_MAX)
SUB_GROUPS(short, SHRT_MIN, SHRT_MAX)
SUB_GROUPS(ushort, 0, USHRT_MAX)

#define LANES(T) \
  OVERLOAD T##2 sub_group_broadcast(T##2 x, uint lane) { return (T##2)(from_##T(x.s0, lane), from_##T(x.s1, lane)); } \
  OVERLOAD T##3 sub_group_broadcast(T##3 x, uint lane) { return (T##3)(sub_group_broadcast(x.s01, lane), from_##T(x.s2, lane)); } \
  OVERLOAD T##4 sub_group_broadcast(T##4 x, uint lane) { return (T##4)(sub_group_broadcast(x.lo, lane), sub_group_broadcast(x.hi, lane)); } \
  OVERLOAD T##8 sub_group_broadcast(T##8 x, uint lane) { return (T##8)(sub_group_broadcast(x.lo, lane), sub_group_broadcast(x.hi, lane)); } \
  OVERLOAD T##16 sub_group_broadcast(T##16 x, uint lane) { return (T##16)(sub_group_broadcast(x.lo, lane), sub_group_broadcast(x.hi, lane)); } \
  OVERLOAD T sub_group_shuffle(T x, uint lane) { return from_##T(x, lane); } \
  OVERLOAD T sub_group_shuffle_xor(T x, uint mask) { return from_##T(x, __heddle_lane() ^ mask); } \
  OVERLOAD T sub_group_shuffle_up(T x, uint delta) { return from_##T(x, __heddle_lane() - delta); } \
  OVERLOAD T sub_group_shuffle_down(T x, uint delta) { return from_##T(x, __heddle_lane() + delta); } \
  OVERLOAD T sub_group_rotate(T x, int delta) { return from_##T(x, __heddle_lane() + delta); } \
  OVERLOAD T sub_group_clustered_rotate(T x, int delta, uint size) { \
    uint lane = __heddle_lane(); \
    return from_##T(x, (lane & ~(size - 1)) | (lane + delta & size - 1)); \
  }
LANES(char) LANES(uchar) LANES(short) LANES(ushort) LANES(int) LANES(uint) LANES(long) LANES(ulong) LANES(half) LANES(float) LANES(double)
