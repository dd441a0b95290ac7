"""Physical quantities of a state: energies, momenta, net internal force and torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sinew.core.methods.model.model import Model
from sinew.core.methods.model.state import State


@dataclass(frozen=True)
class Diagnostics:
    """Energies in J, momentum in kg m/s, angular momentum (about the origin) in kg m²/s, net internal force in N and
    torque in N m, mass in kg, smallest volume ratio of a tet (at most 0: inverted)."""

    kinetic_energy: float
    elastic_energy: float
    momentum: np.ndarray
    angular_momentum: np.ndarray
    internal_force: np.ndarray
    internal_torque: np.ndarray
    mass: float
    smallest_volume_ratio: float


def diagnose(model: Model, state: State) -> Diagnostics:
    """Evaluate a state."""
    x, v = state.positions, state.velocities
    deformation = model.elastic.deformation(x)
    forces = -model.elastic.gradient(deformation)
    momenta = model.mass @ v
    return Diagnostics(
        kinetic_energy=0.5 * float(np.sum(v * momenta)),
        elastic_energy=model.elastic.value(deformation),
        momentum=momenta.sum(axis=0),
        angular_momentum=np.cross(x, momenta).sum(axis=0),
        internal_force=forces.sum(axis=0),
        internal_torque=np.cross(x, forces).sum(axis=0),
        mass=float(model.masses.sum()),
        smallest_volume_ratio=float(deformation.sigma.prod(axis=1).min()),
    )
