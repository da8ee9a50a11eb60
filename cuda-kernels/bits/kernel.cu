// golden: Python integers
// Functions of bits and integers, each into its own column.
__global__ void bits(const unsigned int *a, const unsigned int *b, unsigned int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned int x = a[i], y = b[i], *o = out + 16 * i;
    o[0] = __popc(x);
    o[1] = __clz(x);
    o[2] = __ffs(x);
    o[3] = __brev(x);
    o[4] = __umulhi(x, y);
    o[5] = __mulhi((int)x, (int)y);
    o[6] = __byte_perm(x, y, 0x5140);
    o[7] = __funnelshift_l(x, y, y & 63);
    o[8] = __funnelshift_r(x, y, y & 63);
    o[9] = __funnelshift_lc(x, y, y & 63);
    o[10] = __usad(x, y, 7u);
    o[11] = __sad((int)x, (int)y, 7u);
    o[12] = __uhadd(x, y);
    o[13] = __hadd((int)x, (int)y);
    o[14] = __umul24(x, y);
    o[15] = (unsigned int)__dp4a((int)x, (int)y, 5);
}
