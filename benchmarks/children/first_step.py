"""Separate process for the benchmark of the first use.

Usage: ``python first_step.py REPOSITORY first|ground|all|again|step``. Tasks: compile the kernels of a default bake and
begin it; the same on a ground; compile all kernels; run all kernels, whether or not they are recorded as compiled; take
the first step of a beam of 1,920 tets. Prints as JSON the seconds since its start, processor seconds, and the numbers
of kernels compiled in advance and too ``late``, during frames of the bake. SINEW_KERNEL_CACHE names the cache folder.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time

START = time.perf_counter()


def main(repository: str, task: str) -> None:
    """Mount the package and run the task."""
    spec = importlib.util.spec_from_file_location("build_addon", f"{repository}/build_addon.py")
    build_addon = importlib.util.module_from_spec(spec)
    sys.modules["build_addon"] = build_addon
    spec.loader.exec_module(build_addon)
    build_addon.mount()
    from numba.core.event import RecordingListener, install_listener
    from sinew.core.simulation.frame_loop import compile_kernels

    late: list = []
    with install_listener("numba:compile", RecordingListener()) as compiled:
        if task in ("first", "ground"):
            job = _job(task == "ground")
            compile_kernels.warm_up(lambda event: None, [job])
            compile_kernels.load_kernels(job)
        elif task == "all":
            compile_kernels.warm_up(lambda event: None)
        elif task == "again":
            for stage in compile_kernels.STAGES:
                stage.compile()
        else:
            _step()
    told = {"seconds": time.perf_counter() - START, "processor": _processor()}
    if task in ("first", "ground"):
        with install_listener("numba:compile", RecordingListener()) as listener:
            _bake(job)
        late = listener.buffer
    # Each kernel has two messages, at the beginning and the end of its compilation.
    print(json.dumps({**told, "compiled": len(compiled.buffer) // 2, "late": len(late) // 2}))


def _processor() -> float:
    """Return the processor time of this process and of its ended children, s."""
    return sum(os.times()[:4])


def _job(has_ground):
    """Return the job of a default cube."""
    import numpy as np
    from sinew.core.foundation.schema.settings import MaterialSettings, ResolutionSettings, SolverSettings
    from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
    from sinew.core.jobs.job.body import Body
    from sinew.core.jobs.job.environment import Ground
    from sinew.core.jobs.job.job import Job

    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.01, 1.01)])
    sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))]
    body = Body(
        surface=SurfaceMesh(corners, np.array(faces)),
        materials=(MaterialSettings(),),
        material_weights=np.ones((8, 1)),
        pinned_vertices=np.zeros(0, dtype=np.int32),
        pin_positions=np.zeros((4, 0, 3)),
        resolution=ResolutionSettings(cells_across=4),
        solver=SolverSettings(),
        colliders=(Ground(),) * has_ground,
    )
    return Job(bodies=(body,), frame_start=1, frame_end=4, frame_rate=24.0)


def _bake(job) -> None:
    from sinew.core.simulation.frame_loop.group import simulate_group
    from sinew.core.simulation.preparation.prepare import prepare

    for _frames in simulate_group([job], [prepare(job)]):
        pass


def _step() -> None:
    from sinew.benchmarks.bodies import bent_beam
    from sinew.core.foundation.schema.settings import SolverSettings
    from sinew.core.methods.solvers import make_solver

    model, state = bent_beam((20, 4, 4))
    make_solver(model, SolverSettings()).step(state, state.positions[model.pinned], 1 / 30)


if __name__ == "__main__":
    main(*sys.argv[1:])
