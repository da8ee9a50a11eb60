// golden: numpy and math.erfc in float64 with a tolerance
// Prices of options after Black and Scholes.
__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

__global__ void price(const float *spot, const float *strike, const float *years, float *call, float *put, float rate,
                      float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = spot[i], k = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root, discount = expf(-rate * t);
    call[i] = s * normal(d1) - k * discount * normal(d2);
    put[i] = k * discount * normal(-d2) - s * normal(-d1);
}
