// golden: Python integers
//
// Values of 64 bits that loops carry as pairs of words: made of words that need each other's old values, swapped, joined by shifts.

__kernel void carried_pairs(__global ulong *state, __global uint2 *pairs, __global ulong *mixed, int steps)
{
    size_t g = get_global_id(0);
    ulong s = state[g], m = mixed[g];
    uint2 p = pairs[g];
#pragma clang loop unroll(disable)
    for (int i = 0; i < steps; i++) {
        uint low = (uint)s, high = (uint)(s >> 32);
        uint tripled = low * 3u, crossed = high ^ low;
        s = as_ulong((uint2)(tripled, crossed));
    }
#pragma clang loop unroll(disable)
    for (int i = 0; i < steps; i++) {
        uint low = (uint)m, high = (uint)(m >> 32);
        m = (ulong)((high ^ (low >> 3)) + low * 7u) << 32 | (low * 3u + high);
        if (m % 5 == 1)
            m = m << 32 | m >> 32;
    }
#pragma clang loop unroll(disable)
    for (int i = 0; i < steps; i++) {
        p = p.yx;
        if (p.x & 1)
            p.y += p.x;
        else if (p.y > 1000)
            p = (uint2)(p.y - 3, p.x);
    }
    state[g] = s;
    mixed[g] = m;
    pairs[g] = p;
}
