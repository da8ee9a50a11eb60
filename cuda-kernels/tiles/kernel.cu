// golden: numpy
// Cooperative groups: tiles of eight lanes that add up what they have.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *sums, int *above)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int i = blockIdx.x * block.size() + block.thread_rank();
    int v = in[i], sum = v;
    for (int step = tile.size() / 2; step > 0; step /= 2)
        sum += tile.shfl_down(sum, step);
    int mean = tile.shfl(sum, 0) / 8;
    unsigned int more = tile.ballot(v > mean);
    block.sync();
    if (tile.thread_rank() == 0) {
        sums[i / 8] = sum;
        above[i / 8] = __popc(more);
    }
}
