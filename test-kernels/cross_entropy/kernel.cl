// golden: numpy float64 with error bounds
// The loss of a row and its gradient, a row a work-item; the mean loss by a group's sum.
__kernel void loss(__global const float *score, __global const int *label, __global float *loss, __global float *grad, int rows, int classes) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  if (i >= rows)
    return;
  __global const float *s = score + i * classes;
  float most = s[0];
  for (int k = 1; k < classes; k++)
    most = fmax(most, s[k]);
  float sum = 0.0f;
  for (int k = 0; k < classes; k++)
    sum += exp(s[k] - most);
  int right = label[i];
  loss[i] = log(sum) - (s[right] - most);
  float scale = 1.0f / sum;
  for (int k = 0; k < classes; k++)
    grad[i * classes + k] = exp(s[k] - most) * scale - (k == right ? 1.0f : 0.0f);
}
