"""Frames of Newton's vertex block descent, for the scripts in this folder: states, processor time, and files.

On the CPU, in single precision.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import newton
import numpy as np
import warp as wp

Scene = dict[str, np.ndarray]


def stepper(
    model: newton.Model,
    scene: Scene,
    begin: Callable[[int], None] = lambda _k: None,
    contacts: newton.Contacts | None = None,
    **settings: float | bool,
) -> Callable[[int], np.ndarray]:
    """Return a function that simulates the frame of a number from the state before, and returns positions.

    ``begin`` is called with the number before its frame. ``contacts`` with shapes are found in each step.
    ``settings`` are those of ``SolverVBD``.
    """
    solver = newton.solvers.SolverVBD(
        model, iterations=int(scene["iterations"]), particle_enable_tile_solve=False, **settings
    )
    states, control = [model.state(), model.state()], model.control()
    substeps, h = int(scene["substeps"]), float(scene["time_step"])

    def frame(k: int) -> np.ndarray:
        begin(k)
        for _ in range(substeps):
            states[0].clear_forces()
            if contacts is not None:
                model.collide(states[0], contacts)
            solver.step(states[0], states[1], control, contacts, h)
            states.reverse()
        return states[0].particle_q.numpy().astype(np.float64)

    return frame


def record(source: str, target: str, make: Callable[[Scene], Callable[[int], np.ndarray]]) -> None:
    """Simulate the scene of a file by the function that ``make`` returns for it.

    Writes positions and processor seconds of every frame.
    """
    with np.load(source, allow_pickle=False) as archive:
        scene = {key: archive[key] for key in archive.files}
    wp.config.log_level = wp.LOG_WARNING
    make(scene)(0)  # compiles the kernels
    frame, positions, seconds = make(scene), [scene["positions"]], []
    for k in range(int(scene["frames"])):
        start = time.process_time()
        positions.append(frame(k))
        seconds.append(time.process_time() - start)
    np.savez(target, positions=positions, seconds=seconds, version=newton.__version__)
