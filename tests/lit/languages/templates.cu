// Instances of templates are compiled by their names, as the user writes them; names of namespaces and overloads.
// RUN: %heddle run %s --kernel 'ns::fill<int,3>' --grid 2 --block 32 --arg A=zeros:int32:64,save=%t.npy --quiet
// RUN: python3 -c "import sys; d = open(sys.argv[1], 'rb').read(); print(d[-256:-252], d[-4:])" %t.npy | FileCheck %s --check-prefix=FILLED
// FILLED: b'\x03\x00\x00\x00' b'B\x00\x00\x00'
// RUN: %heddle run %s --kernel 'plain(int*)' --grid 1 --block 32 --arg A=zeros:int32:64 --quiet
// RUN: not %heddle run %s --kernel 'ns::fill<int>' --grid 2 --block 32 --arg A=zeros:int32:64 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// ARGUMENTS: kernel ns::fill<int>:1:{{.*}}error: {{.*}}overloaded function
// RUN: not %heddle run %s --kernel plain --grid 2 --block 32 --arg A=zeros:int32:64 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: error: {{.*}}no kernel `plain`; there are: plain(int*), plain(float*)
namespace ns {
template <typename T, int N>
__global__ void fill(T *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = T(i + N);
}
}
__global__ void plain(int *a) { a[threadIdx.x] = 1; }
__global__ void plain(float *a) { a[threadIdx.x] = 1; }
