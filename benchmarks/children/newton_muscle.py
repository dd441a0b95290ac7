"""A bar with springs as fibres in Newton, by vertex block descent; runs in the peers' environment.

Usage: ``python newton_muscle.py IN.npz OUT.npz``. Neo-Hookean tets on given masses, pins of mass 0, and a spring per
edge along the fibres, whose stiffness and rest length are set in each frame. On the CPU, in single precision.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import newton
import numpy as np
import warp as wp


def _model(bar: dict[str, np.ndarray]) -> newton.Model:
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


def _stepper(bar: dict[str, np.ndarray]) -> Callable[[int], np.ndarray]:
    """Return a function that simulates a frame from the state before, and returns positions."""
    model = _model(bar)
    solver = newton.solvers.SolverVBD(model, iterations=int(bar["iterations"]), particle_enable_tile_solve=False)
    states, control = [model.state(), model.state()], model.control()
    substeps, h = int(bar["substeps"]), float(bar["time_step"])

    def frame(k: int) -> np.ndarray:
        model.spring_stiffness.assign(bar["stiffness"][k].astype(np.float32))
        model.spring_rest_length.assign(bar["lengths"][k].astype(np.float32))
        for _ in range(substeps):
            states[0].clear_forces()
            solver.step(states[0], states[1], control, None, h)
            states.reverse()
        return states[0].particle_q.numpy().astype(np.float64)

    return frame


def main(source: str, target: str) -> None:
    """Simulate the bar and write positions and processor seconds of every frame."""
    with np.load(source, allow_pickle=False) as archive:
        bar = {key: archive[key] for key in archive.files}
    wp.config.log_level = wp.LOG_WARNING
    _stepper(bar)(0)  # compiles the kernels
    frame, positions, seconds = _stepper(bar), [bar["positions"]], []
    for k in range(len(bar["stiffness"])):
        start = time.process_time()
        positions.append(frame(k))
        seconds.append(time.process_time() - start)
    np.savez(target, positions=positions, seconds=seconds, version=newton.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
