// Included by kernel.cl.
static inline int from_header(int x) { return (x & 0xffff) * 3 % 1000; }
