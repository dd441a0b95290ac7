"""Interface of the fibre laws: energy densities of the fibre stretch and the activation.

A fibre of rest direction a has the stretch ``l = |F a|`` with the deformation gradient F. A law is an energy density
psi(l), Pa, added to the isotropic energy of the element. Fibres never push: every law has ``psi' >= 0``. So the second
derivative of psi by F has no negative eigenvalues except where ``psi'' < 0``.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ...foundation.schema.muscle_settings import MuscleSettings


class FibreTerms(NamedTuple):
    """Energy density psi of f fibres, Pa, and its first and second derivative by the stretch, Pa; (f,) each."""

    density: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


class FibreLaw(Protocol):
    """Law of a fibre, defined in one module and listed in :mod:`.registry`.

    ``name``: value of the setting. ``label``, ``description``: texts for user interfaces.
    """

    name: str
    label: str
    description: str

    def terms(self, stretch: np.ndarray, activation: np.ndarray, settings: MuscleSettings) -> FibreTerms:
        """Return psi, psi' and psi''. ``stretch`` (f,), at least 0: stretch l of each fibre. ``activation`` (f,), 0 to
        1: activation of each fibre.
        """


def rest_stretch(activation: np.ndarray, settings: MuscleSettings) -> np.ndarray:
    """Return the stretch r at which a fibre has no tension, ``1 - shortening * activation``. (f,)."""
    return 1.0 - settings.shortening * activation


def modulus(activation: np.ndarray, settings: MuscleSettings) -> np.ndarray:
    """Return the fibre modulus, Pa, which grows from the passive one to ``strength`` with the activation. (f,)."""
    return settings.strength * (settings.passive + (1.0 - settings.passive) * activation)
