// golden: numpy float64 with a tolerance
// All pairs by tiles of bodies; vectors of three and four, overloaded operators.
__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }

__global__ void forces(const float4 *body, float4 *force, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = body[i];
    float3 sum = make_float3(0, 0, 0);
    for (int from = 0; from < n; from += blockDim.x) {
        tile[threadIdx.x] = body[from + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float4 other = tile[j];
            float3 d = make_float3(other.x - own.x, other.y - own.y, other.z - own.z);
            float inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
            sum = sum + (other.w * inverse * inverse * inverse) * d;
        }
        __syncthreads();
    }
    force[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
