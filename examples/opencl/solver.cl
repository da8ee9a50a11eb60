/* Kernels of solver.cpp: conjugate gradients. The scalars stay on the device, in `s`, so that the
 * host need not wait in every step. */

enum { RR, PAP, NEW_RR };

/* y = A x, where A is the five-point stencil of a square of n × n points with a border of zeros. */
__kernel void stencil(__global const float *x, __global float *y, int n) {
    int i = get_global_id(0), j = get_global_id(1);
    if (i >= n || j >= n)
        return;
    int at = j * n + i;
    float sum = 4.0f * x[at];
    if (i > 0)
        sum -= x[at - 1];
    if (i < n - 1)
        sum -= x[at + 1];
    if (j > 0)
        sum -= x[at - n];
    if (j < n - 1)
        sum -= x[at + n];
    y[at] = sum;
}

/* One sum of products for each work-group. */
__kernel void dot_groups(__global const float *a, __global const float *b, int count, __global float *sums, __local float *room) {
    int l = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < count; i += get_global_size(0))
        sum += a[i] * b[i];
    room[l] = sum;
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size)
            room[l] += room[l + half_size];
    }
    if (l == 0)
        sums[get_group_id(0)] = room[0];
}

/* s[which] = the sum of the groups' sums. */
__kernel void dot_total(__global const float *sums, int groups, __global float *s, int which) {
    float sum = 0.0f;
    for (int i = 0; i < groups; i++)
        sum += sums[i];
    s[which] = sum;
}

/* x += a p and r -= a q, where a = rr / pAp. */
__kernel void advance(__global float *x, __global float *r, __global const float *p, __global const float *q,
                      __global const float *s, int count) {
    int i = get_global_id(0);
    if (i >= count)
        return;
    float a = s[PAP] > 0.0f ? s[RR] / s[PAP] : 0.0f;
    x[i] += a * p[i];
    r[i] -= a * q[i];
}

/* p = r + b p, where b = new rr / old rr. */
__kernel void direction(__global float *p, __global const float *r, __global const float *s, int count) {
    int i = get_global_id(0);
    if (i < count)
        p[i] = r[i] + (s[RR] > 0.0f ? s[NEW_RR] / s[RR] : 0.0f) * p[i];
}
