/* Kernel of racy_host.c: smooths a row of numbers in place. The neighbour that one work-item reads is
 * what another one writes, and nothing puts the two in order. */
__kernel void smooth(__global float *row) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float right = row[i + 1 < n ? i + 1 : i];
    float own = row[i];
    row[i] = 0.5f * own + 0.5f * right;
}
