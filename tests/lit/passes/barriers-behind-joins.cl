// Work-items come by different ways to a barrier that all come to: by a uniform condition in front, and from a switch.
// RUN: %heddle run %s --kernel either --global 32 --local 32 --arg p=random:int32:4096 --arg i32=0 --mode functional --quiet
// RUN: %heddle run %s --kernel either --global 32 --local 32 --arg p=random:int32:4096 --arg i32=1 --mode timing --quiet
// RUN: %heddle run %s --kernel chosen --global 32 --local 32 --arg p=random:int32:4096 --arg i32=0 --mode functional --quiet
// RUN: %heddle run %s --kernel chosen --global 32 --local 32 --arg p=random:int32:4096 --arg i32=0 --mode timing --quiet
kernel void either(global int *p, int uniform) {
  int id = get_local_id(0);
  if (uniform || (p[id + 1000] = 1, id < 16) || (p[id + 2000] = 3, p[id] != 1000)) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[id] += 5;
  }
}

kernel void chosen(global int *p, int arg) {
  int id = get_local_id(0);
  bool both = true;
  switch (id % 5) {
  case 0:
    p[id] = 1;
    break;
  case 1:
    p[id + 1000] = 2;
    break;
  case 2:
    p[id + 2000] = 3;
    break;
  default:
    p[id + 3000] = 3;
    both = arg == 0;
  }
  if (both) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    p[id] += 5;
  }
}
