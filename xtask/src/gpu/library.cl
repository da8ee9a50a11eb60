// What kernels of Heddle call, on an NVIDIA GPU: work-item functions, barriers, and what sub-groups are made of.
// Compiled by clang for nvptx64 and linked to the kernels' IR; everything is inlined.

#define FUNCTION __attribute__((overloadable, always_inline))
#define PLAIN __attribute__((always_inline))

typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;

// Set by the host before each launch: dimensions, then global offset and global size of three.
__global uint heddle_launch[7];

#define BY_DIMENSION(name, x, y, z, other) \
    FUNCTION size_t name(uint d) { return d == 0 ? x : d == 1 ? y : d == 2 ? z : other; }
#define SREG(r) (size_t)__nvvm_read_ptx_sreg_##r()

BY_DIMENSION(get_local_id, SREG(tid_x), SREG(tid_y), SREG(tid_z), 0)
BY_DIMENSION(get_local_size, SREG(ntid_x), SREG(ntid_y), SREG(ntid_z), 1)
BY_DIMENSION(get_enqueued_local_size, SREG(ntid_x), SREG(ntid_y), SREG(ntid_z), 1)
BY_DIMENSION(get_group_id, SREG(ctaid_x), SREG(ctaid_y), SREG(ctaid_z), 0)
BY_DIMENSION(get_num_groups, SREG(nctaid_x), SREG(nctaid_y), SREG(nctaid_z), 1)
BY_DIMENSION(get_global_offset, heddle_launch[1], heddle_launch[2], heddle_launch[3], 0)
BY_DIMENSION(get_global_size, heddle_launch[4], heddle_launch[5], heddle_launch[6], 1)

FUNCTION size_t get_global_id(uint d) { return get_global_offset(d) + get_group_id(d) * get_local_size(d) + get_local_id(d); }
FUNCTION uint get_work_dim(void) { return heddle_launch[0]; }
FUNCTION size_t get_local_linear_id(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
FUNCTION size_t get_global_linear_id(void) {
    size_t z = get_global_id(2) - get_global_offset(2), y = get_global_id(1) - get_global_offset(1);
    return (z * get_global_size(1) + y) * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}

// A barrier of CUDA orders global and shared memory of the work-group.
__attribute__((overloadable, always_inline, convergent)) void barrier(uint flags) { __syncthreads(); }
FUNCTION void mem_fence(uint flags) { __nvvm_membar_gl(); }

PLAIN uint __heddle_warp_size(void) { return 32; }
PLAIN uint __heddle_lane(void) { return get_local_linear_id() % 32; }
PLAIN uint __heddle_warp(void) { return get_local_linear_id() / 32; }
PLAIN uint __heddle_warps(void) { return (get_local_size(0) * get_local_size(1) * get_local_size(2) + 31) / 32; }

PLAIN static uint active(void) {
    uint mask;
    __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

__attribute__((always_inline, convergent)) uint __heddle_shuffle(uint value, uint lane) {
    uint result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(result) : "r"(value), "r"(lane), "r"(active()));
    return result;
}

__attribute__((always_inline, convergent)) ulong __heddle_ballot(int value) {
    uint result;
    __asm__ volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                     : "=r"(result)
                     : "r"(value), "r"(active()));
    return result;
}
