kernel void saxpy(global float *y, global const float *x, float a)
{
    size_t i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    y[i] = a * x[i] + y[i];
}
