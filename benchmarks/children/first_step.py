"""A process of its own for the bench of the first use.

Usage: ``python first_step.py REPOSITORY compile|step``. Prints the seconds from its start to the end of compiling all
kernels, or to the end of the first step of a beam of 1,920 tets; SINEW_KERNEL_CACHE names the cache folder.
"""

from __future__ import annotations

import importlib.util
import sys
import time

START = time.perf_counter()


def main(repository: str, task: str) -> None:
    """Mount the package and do the task."""
    spec = importlib.util.spec_from_file_location("build_addon", f"{repository}/build_addon.py")
    build_addon = importlib.util.module_from_spec(spec)
    sys.modules["build_addon"] = build_addon
    spec.loader.exec_module(build_addon)
    build_addon.mount()
    if task == "compile":
        from sinew.core.simulation.warm_up import warm_up

        warm_up(lambda event: None)
    else:
        from sinew.benchmarks.bodies import bent_beam
        from sinew.core.settings import SolverSettings
        from sinew.core.solvers import make_solver

        model, state = bent_beam((20, 4, 4))
        make_solver(model, SolverSettings()).step(state, state.positions[model.pinned], 1 / 30)
    print(time.perf_counter() - START)


if __name__ == "__main__":
    main(*sys.argv[1:])
