// golden: numpy.fft with a tolerance
// Stages of a Fourier transform between two buffers, after Stockham.
__global__ void stage(const float2 *in, float2 *out, int n, int span)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int half = n / 2, k = i & (span - 1);
    float2 a = in[i], b = in[i + half];
    float s, c;
    sincosf(-3.14159265358979f * k / span, &s, &c);
    float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    int to = 2 * i - k;
    out[to] = make_float2(a.x + t.x, a.y + t.y);
    out[to + span] = make_float2(a.x - t.x, a.y - t.y);
}
