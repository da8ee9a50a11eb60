// A condition that turns out constant only in selection leaves one edge, and phis without an input from the other one. Checking
// mode's code, which is not optimised as far, has one here, as one component is a constant.
// RUN: %heddle run %s --kernel unit --global 64 --arg in=random:float32:64 --arg out=zeros:float32:64,save=%t.npy --check=races --verify --mode functional
kernel void unit(global const float *in, global float *out) {
  int i = get_global_id(0);
  out[i] = normalize((float2)(in[i], 1.5f)).x;
}
