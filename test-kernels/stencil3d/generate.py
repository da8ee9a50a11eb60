"""7-point stencil: planes rotate through registers, a plane in local memory."""

from bounds import E, zeros
from cases import I, f32, inp, launch, out

AFTER = "Parboil stencil, Rodinia hotspot3D"


def make(r):
    nx, ny, nz = 22, 14, 11
    a0 = f32(r, nz, ny, nx)
    a, b = E(a0), zeros(nz, ny, nx)
    c = a[1:-1, 1:-1, 1:-1]
    b[1:-1, 1:-1, 1:-1] = (
        a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1]
    ) * 0.125 - c * 0.7
    return {"a": inp(a0), "b": out(b)}, [launch("stencil", [24, 24], [12, 4], "a", "b", I(nx), I(ny), I(nz))], []
