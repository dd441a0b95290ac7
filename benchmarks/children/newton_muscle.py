"""A bar with springs as fibres in Newton, by vertex block descent; runs in the peers' environment.

Usage: ``python newton_muscle.py IN.npz OUT.npz``. Neo-Hookean tets on given masses, pins of mass 0, and a spring per
edge along the fibres, whose stiffness and rest length are set in each frame.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import newton
import numpy as np
from newton_frames import Scene, record, stepper


def _model(bar: Scene) -> newton.Model:
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    masses = bar["masses"].copy()
    masses[bar["pinned"]] = 0.0
    X = bar["positions"].tolist()
    builder.add_particles(pos=X, vel=[(0.0, 0.0, 0.0)] * len(X), mass=masses.tolist())
    mu, lam, damping = (float(bar[name]) for name in ("mu", "lam", "damping"))
    for tet in bar["tets"].tolist():
        builder.add_tetrahedron(*tet, mu, lam, damping)
    for i, j in bar["edges"].tolist():
        builder.add_spring(i, j, 0.0, 0.0, 0.0)
    builder.color()
    return builder.finalize(device="cpu")


def _stepper(bar: Scene) -> Callable[[int], np.ndarray]:
    model = _model(bar)

    def activate(k: int) -> None:
        model.spring_stiffness.assign(bar["stiffness"][k].astype(np.float32))
        model.spring_rest_length.assign(bar["lengths"][k].astype(np.float32))

    return stepper(model, bar, activate)


if __name__ == "__main__":
    record(*sys.argv[1:], _stepper)
