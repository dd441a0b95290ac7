"""Saint Venant-Kirchhoff energy: Hooke's law for the Green strain E.

    psi = mu |E|^2 + lambda/2 tr(E)^2,     E = (F^T F - I) / 2

with the deformation gradient F (singular values sigma_i), the Lame parameters mu, lambda. Sifakis, Barbic 2012, "FEM
Simulation of 3D Deformable Solids", Sec. 3.3. With ``e_i = (sigma_i^2 - 1)/2``: ``psi_i = sigma_i (2 mu e_i + lambda tr
E)``.

Trap: E is invariant to reflection, so an inverted tet may be stress-free and stay inverted; below a stretch of 1/sqrt 3
the resistance to compression decreases.
"""

from __future__ import annotations

from ...foundation.kernels.jit import kernel
from .isotropic import IsotropicEnergy, PrincipalFunction


@kernel
def _value(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        # (s - 1) (s + 1), without cancellation at rest.
        x = 0.5 * (s[0] - 1.0) * (s[0] + 1.0)
        y = 0.5 * (s[1] - 1.0) * (s[1] + 1.0)
        z = 0.5 * (s[2] - 1.0) * (s[2] + 1.0)
        trace = x + y + z
        out[e] = parameters[e, 0] * (x * x + y * y + z * z) + 0.5 * parameters[e, 1] * trace * trace


@kernel
def _gradient(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        pressure = 0.5 * parameters[e, 1] * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3.0)
        for i in range(3):
            out[e, i] = s[i] * (parameters[e, 0] * (s[i] * s[i] - 1.0) + pressure)


@kernel
def _curvature(sigma, parameters, H, flip, twist):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1]
        pressure = 0.5 * lam * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3.0)
        for i in range(3):
            for j in range(3):
                own = mu * (3.0 * s[i] * s[i] - 1.0) + pressure if i == j else 0.0
                H[e, i, j] = lam * s[i] * s[j] + own
        for k in range(3):
            i = 1 if k == 0 else 0
            j = 1 if k == 2 else 2
            squares = s[i] * s[i] + s[j] * s[j] - 1.0
            flip[e, k] = mu * (squares + s[i] * s[j]) + pressure
            twist[e, k] = mu * (squares - s[i] * s[j]) + pressure


ENERGY = IsotropicEnergy(
    name="stvk",
    label="Saint Venant-Kirchhoff",
    description="Hooke's law at large rotations, for tension: strongly compressed, it collapses and may stay inverted",
    principal=PrincipalFunction(_value, _gradient, _curvature),
)
