"""Stable Neo-Hookean energy: flesh and rubber, finite at inversion.

    psi = mu/2 (|F|^2 - 3) - mu (J - 1) + lambda'/2 (J - 1)^2,     lambda' = lambda + mu

with the deformation gradient F (singular values sigma_i), ``J = det F``, the Lame parameters mu, lambda. Smith, de
Goes, Kim 2018, "Stable Neo-Hookean Flesh Simulation", without the logarithm; lambda' makes the linearisation at rest
match the Lame parameters. With ``J_i = dJ/dsigma_i`` and ``a = lambda' (J-1) - mu``: ``psi_i = mu sigma_i + a J_i``.
"""

from __future__ import annotations

from ...foundation.kernels.jit import kernel
from .isotropic import IsotropicEnergy, PrincipalFunction, ordered, principal_hessian, principal_stress


@kernel
def _value(sigma, parameters, out):
    for e in range(len(sigma)):
        a, b, c = sigma[e, 0], sigma[e, 1], sigma[e, 2]
        mu, lam = parameters[e, 0], parameters[e, 1] + parameters[e, 0]
        J1 = a * b * c - 1.0
        # |F|^2 - 3 - 2 (J - 1), without cancellation at rest.
        x, y, z = a - 1.0, b - 1.0, c - 1.0
        shear = x * x + y * y + z * z - 2.0 * (x * y + y * z + z * x + x * y * z)
        out[e] = ordered(0.5 * mu * shear + 0.5 * lam * J1 * J1)


@kernel
def _gradient(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1] + parameters[e, 0]
        a = lam * (s[0] * s[1] * s[2] - 1.0) - mu
        principal_stress(s, mu, a, out[e])


@kernel
def _curvature(sigma, parameters, H, flip, twist):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1] + parameters[e, 0]
        a = lam * (s[0] * s[1] * s[2] - 1.0) - mu
        principal_hessian(s, mu, a, lam, H[e], flip[e], twist[e])


ENERGY = IsotropicEnergy(
    name="stable_neo_hookean",
    label="Stable Neo-Hookean",
    description="Flesh, rubber, gelatine: nearly keeps its volume, recovers from any compression",
    principal=PrincipalFunction(_value, _gradient, _curvature),
)
