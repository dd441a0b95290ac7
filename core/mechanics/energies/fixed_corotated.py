"""Fixed corotated energy: quadratic in the stretch and in the volume ratio.

    psi = mu |S - I|^2 + lambda/2 (J - 1)^2

with the stretch ``S = R^T F`` (eigenvalues sigma_i), ``J = det F``, ``J_i = dJ/dsigma_i``, the Lame parameters mu,
lambda. Stomakhin et al. 2012, "Energetically Consistent Invertible Elasticity". The principal stresses are
``psi_i = 2 mu (sigma_i - 1) + lambda (J-1) J_i``.

Trap: the second derivatives contain a coefficient called twist (see ``isotropic``),
``2 mu (1 - 2/(sigma_i + sigma_j)) + ...``. The coefficient has a pole at sigma_i = -sigma_j. So a sum
``sigma_i + sigma_j`` of magnitude below 1e-8 is replaced by 1e-8.
"""

from __future__ import annotations

from ...foundation.kernels.jit import kernel
from .isotropic import IsotropicEnergy, PrincipalFunction, off_zero, principal_hessian


@kernel
def _value(sigma, parameters, out):
    for e in range(len(sigma)):
        x, y, z = sigma[e, 0] - 1.0, sigma[e, 1] - 1.0, sigma[e, 2] - 1.0
        J1 = sigma[e, 0] * sigma[e, 1] * sigma[e, 2] - 1.0
        out[e] = parameters[e, 0] * (x * x + y * y + z * z) + 0.5 * parameters[e, 1] * J1 * J1


@kernel
def _gradient(sigma, parameters, out):
    for e in range(len(sigma)):
        s = sigma[e]
        mu = parameters[e, 0]
        a = parameters[e, 1] * (s[0] * s[1] * s[2] - 1.0)
        out[e, 0] = 2.0 * mu * (s[0] - 1.0) + a * s[1] * s[2]
        out[e, 1] = 2.0 * mu * (s[1] - 1.0) + a * s[0] * s[2]
        out[e, 2] = 2.0 * mu * (s[2] - 1.0) + a * s[0] * s[1]


@kernel
def _curvature(sigma, parameters, H, flip, twist):
    for e in range(len(sigma)):
        s = sigma[e]
        mu, lam = parameters[e, 0], parameters[e, 1]
        a = lam * (s[0] * s[1] * s[2] - 1.0)
        principal_hessian(s, 2.0 * mu, a, lam, H[e], flip[e], twist[e])
        for k in range(3):
            total = off_zero(s[0] + s[1] + s[2] - s[k])
            twist[e, k] = 2.0 * mu * (1.0 - 2.0 / total) + a * s[k]


ENERGY = IsotropicEnergy(
    name="fixed_corotated",
    label="Fixed Corotated",
    description="Stiff and springy bodies: stress grows linearly with the stretch, and volume change is resisted",
    principal=PrincipalFunction(_value, _gradient, _curvature),
)
