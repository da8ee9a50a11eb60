// Bodies that attract each other, all pairs. x, y, z and the mass of a body are in one vector.

// What all bodies do to each: its acceleration.
__kernel void forces(__global const float4 *body, __global float4 *acceleration, uint bodies, float softening) {
    size_t i = get_global_id(0);
    float4 me = body[i];
    float3 sum = (float3)(0.0f);
    for (uint j = 0; j < bodies; j++) {
        float4 other = body[j];
        float3 to = other.xyz - me.xyz;
        float near = native_rsqrt(dot(to, to) + softening);
        sum += to * (other.w * near * near * near);
    }
    acceleration[i] = (float4)(sum, 0.0f);
}

// A step of the leapfrog: velocities stand half a step behind the places.
__kernel void advance(__global float4 *body, __global float4 *velocity, __global const float4 *acceleration, float step) {
    size_t i = get_global_id(0);
    float4 v = velocity[i] + acceleration[i] * step;
    velocity[i] = v;
    body[i] += (float4)(v.xyz * step, 0.0f);
}
