// The last work-group may be smaller than `reqd_work_group_size` says, and its size with it.
// RUN: %heddle run %s --kernel k --global 40 --local 32 --arg out=zeros:int32:40,save=%t.npy
// RUN: python3 -c "d = open('%t.npy', 'rb').read(); assert d[-4:] == bytes([8, 0, 0, 0]) and d[-160:-156] == bytes([32, 0, 0, 0]), d[-160:]"
__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k(__global int *out) { out[get_global_id(0)] = get_local_size(0); }
