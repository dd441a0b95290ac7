"""User-defined energies: formulas of the principal stretches, differentiated automatically.

Formulas are registered in the same registry as the built-in energies.

A formula may be undefined for flat and inverted tets. A stretch s below ``LEAST`` is replaced by the positive,
increasing ``phi = LEAST exp(u - u²/2)``, ``u = s/LEAST - 1``, which matches s up to the second derivative at
``s = LEAST``. The added energy ``mu/2 sum (s - phi)²`` restores inverted tets, whatever the formula.

Trap: the second derivatives of an energy contain two coefficients called flip and twist (:mod:`.isotropic`). Flip is a
quotient with a difference of two stretches as denominator, twist with a sum of two stretches. Round-off ruins a
quotient whose denominator is close to zero. So below ``NEARLY_EQUAL`` the quotient is replaced by its limit, computed
from second derivatives of psi.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from ...foundation.errors import MaterialError
from ...foundation.schema.declared_types import checked
from .autodiff import Derivatives, Jet
from .isotropic import IsotropicEnergy, PrincipalFunction
from .registry import ENERGIES

LEAST = 0.1
"""Stretch below which a user's energy formula is replaced by a smooth continuation."""
NEARLY_EQUAL = 1e-5
"""Magnitude of a denominator below which flip and twist (:mod:`.isotropic`) are replaced by their limits. The
denominators are differences and sums of two stretches. The error of a limit is about 1e-10.
"""
PAIRS = (1, 2), (0, 2), (0, 1)

Formula = Callable[[Any, Any, Any, np.ndarray, np.ndarray], Any]


@checked(MaterialError)
def register_energy(
    name: str, psi: Formula, *, everywhere: bool = False, label: str = "", description: str = ""
) -> None:
    """Register an isotropic energy density under a name, for ``Material(energy=name)`` and every solver.

    Parameters
    ----------
    name : str
        Not the name of a built-in energy; a custom energy of this name is replaced.
    psi : function
        ``psi(a, b, c, mu, lam)``, Pa, of the three principal stretches and the Lame parameters of the material, using
        + - * / ** and NumPy's exp, expm1, log, log1p, sqrt, square, sinh, cosh, tanh. It is called with array-like
        arguments (n,), must be symmetric in a, b, c, and stress-free and stable at (1, 1, 1). Derivatives are exact.
    everywhere : bool
        True if psi is valid for zero and negative stretches (c is negative in inverted tets). Otherwise it is continued
        below a stretch of 0.1, so that it is finite there and restores inverted tets.
    label, description : str
        Texts for user interfaces.

    Raises MaterialError if the formula is invalid. A cache of frames stores only the name: rename a changed formula.
    """
    if name in ENERGIES and not isinstance(ENERGIES[name].principal, OwnFunction):
        raise MaterialError(f"The energy “{name}” is built in.", "Give your energy another name.")
    principal = OwnFunction.of(psi, everywhere)
    _check(name, principal)
    ENERGIES[name] = IsotropicEnergy(
        name, label or name, description or "A custom energy", principal, prevents_inversion=not everywhere
    )


@dataclass(frozen=True)
class OwnFunction(PrincipalFunction):
    """User-defined energy density, differentiated automatically by the principal stretches."""

    @classmethod
    def of(cls, psi: Formula, everywhere: bool) -> OwnFunction:
        """Return the kernels of the formula ``psi``.

        ``everywhere``: True if ``psi`` is valid for zero and negative stretches. If False, a smooth continuation
        replaces ``psi`` below the stretch ``LEAST``.
        """

        def at(sigma: np.ndarray, parameters: np.ndarray, stretches: Callable[[np.ndarray], Any]) -> Any:
            mu, lam = parameters[:, 0], parameters[:, 1]
            with np.errstate(all="ignore"):  # overflow gives inf
                s = stretches(sigma)
                if everywhere or (sigma >= LEAST).all():
                    return psi(*s, mu, lam)
                on = [each.of(_gone_on) if isinstance(each, Jet) else _gone_on(each)[0] for each in s]
                off = [each - other for each, other in zip(s, on)]
                return psi(*on, mu, lam) + 0.5 * mu * (off[0] * off[0] + off[1] * off[1] + off[2] * off[2])

        def value(sigma: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> None:
            found = at(sigma, parameters, np.transpose)
            out[:] = np.where(np.isnan(found), np.inf, found)

        def gradient(sigma: np.ndarray, parameters: np.ndarray, out: np.ndarray) -> None:
            out[:] = at(sigma, parameters, Jet.variables).slope.T

        def curvature(
            sigma: np.ndarray, parameters: np.ndarray, H: np.ndarray, flip: np.ndarray, twist: np.ndarray
        ) -> None:
            found = at(sigma, parameters, Jet.variables)
            H[:] = found.curvature.transpose(2, 0, 1)
            for k, (i, j) in enumerate(PAIRS):
                for quotients, sign in ((flip, -1.0), (twist, 1.0)):
                    apart = sigma[:, i] + sign * sigma[:, j]
                    limit = 0.5 * (H[:, i, i] + H[:, j, j]) + sign * H[:, i, j]
                    near = np.abs(apart) < NEARLY_EQUAL
                    slopes = found.slope[i] + sign * found.slope[j]
                    quotients[:, k] = np.where(near, limit, slopes / np.where(near, 1.0, apart))

        return cls(value, gradient, curvature)


def _gone_on(s: np.ndarray) -> Derivatives:
    u = np.minimum(s / LEAST - 1.0, 0.0)
    phi, below = LEAST * np.exp(u - 0.5 * u * u), u < 0.0
    first, second = phi * (1.0 - u) / LEAST, phi * ((1.0 - u) ** 2 - 1.0) / LEAST**2
    return np.where(below, phi, s), np.where(below, first, 1.0), np.where(below, second, 0.0)


def _check(name: str, principal: OwnFunction) -> None:
    """Raise MaterialError if a formula cannot be the energy of an isotropic solid that is stable at rest."""
    parameters, rest = np.array([[3.0, 7.0]]), np.ones((1, 3))
    orders = np.array(list(permutations((1.1, 0.9, 1.3))))
    try:
        values = principal.value(orders, np.repeat(parameters, len(orders), axis=0))
        stress, (curvature, flip, _twist) = principal.gradient(rest, parameters), principal.curvature(rest, parameters)
    except Exception as error:
        raise MaterialError(
            f"The energy “{name}” cannot be evaluated ({error}).",
            "Give a function psi(a, b, c, mu, lam) that returns an array.",
        ) from error
    said = f"The energy “{name}”"
    if not all(np.isfinite(each).all() for each in (values, stress, curvature)):
        raise MaterialError(f"{said} is not a number near rest.", "Check its formula at stretches near 1.")
    if np.ptp(values) > 1e-9 * np.abs(values).max():
        raise MaterialError(f"{said} is not symmetric in the stretches.", "Make it symmetric in a, b and c.")
    if np.abs(stress).max() > 1e-9:
        raise MaterialError(f"{said} is under stress at rest.", "Make its derivatives vanish at a = b = c = 1.")
    if np.linalg.eigvalsh(curvature[0]).min() <= 0.0 or flip.min() <= 0.0:
        raise MaterialError(f"{said} does not resist every deformation at rest.", "Make it convex at a = b = c = 1.")
