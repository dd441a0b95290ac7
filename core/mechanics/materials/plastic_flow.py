"""Plastic flow of elements: multiplicative plasticity with principal logarithmic strains.

The deformation gradient of an element is ``F = F_e F_p``, with an elastic part F_e and a plastic part F_p of
determinant 1. The elastic energy is a function of F_e alone. With the logarithms e_i of the singular values of F_e and
their deviators d_i, the equivalent elastic strain is ``e = sqrt(2/3 sum_i d_i²)``, the strain of an isochoric bar in
tension. A material flows while e exceeds its yield strain, which hardening increases:

    da/dt = c (e - e_y - H a)

with the accumulated plastic strain a, the yield strain e_y, the creep rate c and the hardening H. The flow scales the
deviators by a common factor (return mapping of von Mises plasticity). F is constant during the flow, so the excess
``e - e_y - H a`` decays by ``exp(-(1 + H) c h)`` in a step h, and vanishes in a material that flows instantly.

The flow follows each step, with the solution of a step that keeps F_p. This splitting has an error of first order in
the step. Simo, "Algorithms for static and dynamic multiplicative plasticity", CMAME 99 (1992), has the return mapping.
"""

from __future__ import annotations

import numpy as np

from ..energies.kinematics import Deformation


def unflowed(count: int) -> np.ndarray:
    """Return the plastic state (e,10) of ``count`` elements that have not flowed.

    Its columns are the inverse of F_p, row by row, and the accumulated plastic strain a.
    """
    return np.tile(np.append(np.eye(3).ravel(), 0.0), (count, 1))


def inverse_gradients(plastic: np.ndarray) -> np.ndarray:
    """Return the inverses of the plastic deformation gradients, (e,3,3), of a plastic state (e,10)."""
    return plastic[:, :9].reshape(-1, 3, 3)


def secant_ratio(plastic: np.ndarray, plasticity: np.ndarray) -> np.ndarray:
    """Return the elastic fraction of the equivalent strain in elements that flow instantly, (e,): 1 without flow.

    The secant shear modulus of proportional loading is this fraction of the elastic one. ``plastic`` (e,10): plastic
    state. ``plasticity`` (e,3): as in :func:`flow`.
    """
    accumulated = plastic[:, 9]
    elastic = plasticity[:, 0] + plasticity[:, 2] * accumulated
    return np.where(accumulated > 0.0, elastic / np.maximum(elastic + accumulated, 1e-300), 1.0)


def flow(
    plastic: np.ndarray, deformation: Deformation, plasticity: np.ndarray, time_step: float
) -> tuple[np.ndarray, np.ndarray, Deformation]:
    """Return the plastic state after a step, the elements that flowed, and their elastic deformations.

    Inverted elements do not flow.

    Parameters
    ----------
    plastic : (e,10) plastic state before
    deformation : elastic deformations F_e of the e elements at the end of the step
    plasticity : (e,3) yield strain (0 in elastic elements), creep rate, 1/s (0: instant), and hardening
    time_step : length of the step, s
    """
    yield_strain, creep, hardening = plasticity.T
    upright = deformation.sigma[:, 2] > 0.0
    strain = np.log(np.where(upright[:, None], deformation.sigma, 1.0))
    deviator = strain - strain.mean(axis=1, keepdims=True)
    size = np.sqrt(2.0 / 3.0 * (deviator * deviator).sum(axis=1))
    excess = size - yield_strain - hardening * plastic[:, 9]
    rows = np.flatnonzero((yield_strain > 0.0) & (excess > 0.0))
    _F, U, sigma, V = deformation.take(rows)
    decay, stiffening = np.where(creep[rows] > 0.0, creep[rows] * time_step, np.inf), 1.0 + hardening[rows]
    amount = excess[rows] * -np.expm1(-stiffening * decay) / stiffening
    shrink = np.exp(-(amount / size[rows])[:, None] * deviator[rows])
    sigma = sigma * shrink
    inverse = inverse_gradients(plastic)[rows] @ ((V * shrink[:, None, :]) @ V.transpose(0, 2, 1))
    # The determinant stays 1 but for round-off, which would accumulate.
    inverse /= np.cbrt(np.linalg.det(inverse))[:, None, None]
    after = plastic.copy()
    after[rows, :9] = inverse.reshape(-1, 9)
    after[rows, 9] += amount
    return after, rows, Deformation((U * sigma[:, None, :]) @ V.transpose(0, 2, 1), U, sigma, V)
