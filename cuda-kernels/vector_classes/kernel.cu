// golden: numpy float64 with error bounds
// Classes with operators, by value and by reference; a virtual-free hierarchy by templates.
struct Vector {
  float x, y, z;
  __host__ __device__ Vector(float x, float y, float z) : x(x), y(y), z(z) {}
  __device__ Vector operator+(const Vector &o) const { return {x + o.x, y + o.y, z + o.z}; }
  __device__ Vector operator-(const Vector &o) const { return {x - o.x, y - o.y, z - o.z}; }
  __device__ Vector operator*(float by) const { return {x * by, y * by, z * by}; }
  __device__ float dot(const Vector &o) const { return x * o.x + y * o.y + z * o.z; }
};
template <typename Shape> struct Solid {
  __device__ float distance(const Vector &p) const { return static_cast<const Shape *>(this)->at(p); }
};
struct Ball : Solid<Ball> {
  Vector centre;
  float radius;
  __device__ Ball(Vector c, float r) : centre(c), radius(r) {}
  __device__ float at(const Vector &p) const {
    Vector d = p - centre;
    return sqrtf(d.dot(d)) - radius;
  }
};
struct Plane : Solid<Plane> {
  float height;
  __device__ explicit Plane(float h) : height(h) {}
  __device__ float at(const Vector &p) const { return p.z - height; }
};
extern "C" __global__ void distances(const float *points, float *ball, float *plane, float *both, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Vector p(points[3 * i], points[3 * i + 1], points[3 * i + 2]), middle = (p + Vector(0.25f, 0.5f, 0.75f)) * 0.5f;
  Ball b(Vector(0.5f, 0.5f, 0.5f), 0.25f);
  Plane f(0.125f);
  ball[i] = b.distance(middle);
  plane[i] = f.distance(middle);
  both[i] = fminf(ball[i], plane[i]);
}
