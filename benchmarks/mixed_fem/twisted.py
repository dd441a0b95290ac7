"""Hard state: an arm whose ends are twisted in opposite directions, with random vertex velocities, at any contrast.

In the inertial prediction hundreds of tets are inverted. Mild states, for which 6 iterations suffice, do not show the
value of an initial guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ...core.foundation.errors import SinewError
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.methods.model.model import Model, build_model
from ...core.methods.model.state import State
from ..bodies import has, load
from ..measures import StepProblem, gradient_norms
from ..pictures import Curve, Plot, Snapshot, draw
from ..registry import Case, Row, row

TWIST = 0.6
"""Twist of each end, radians, in opposite directions."""
SPEEDS = (0.1, 0.3, 1.0)
"""Standard deviation of each vertex's velocity, m/s: 0.003 to 0.03 m per step; the body has 1.8 m, its edges 0.05 m."""
CONTRASTS = (1.0, 1e3, 1e6, 1e10)
SOFT, HELD, MIDDLE = 1e5, 0.08, (0.35, 0.65)
"""Young's modulus, Pa; fraction of the length held at each end; stiff range of the length."""
CAP, MOST = 200, 15


def cases(data: Path | None) -> Iterator[Case]:
    """Yield three speeds."""
    if data is not None and has(data, "arm_coarse"):
        for speed in SPEEDS:
            yield Case(f"twisted_arm_{speed}", lambda speed=speed: _twisted(data, speed))


def _state(data: Path, contrast: float, speed: float) -> tuple[Model, State]:
    body = load(data, "arm_coarse")
    X, tets = body["vertices"], body["tets"]
    along = (X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0])
    of_tet = along[tets].mean(axis=1)
    E = np.where((of_tet > MIDDLE[0]) & (of_tet < MIDDLE[1]), contrast * SOFT, SOFT)
    pinned = np.flatnonzero((along < HELD) | (along > 1.0 - HELD))
    model = build_model(TetMesh(X, tets), E, 0.45, 1e3, pinned=pinned)
    angle, middle = TWIST * (2.0 * along - 1.0), X[:, 1:].mean(axis=0)
    y, z = (X[:, 1:] - middle).T
    x = X.copy()
    x[:, 1] = middle[0] + np.cos(angle) * y - np.sin(angle) * z
    x[:, 2] = middle[1] + np.sin(angle) * y + np.cos(angle) * z
    velocities = speed * np.random.default_rng(0).normal(size=X.shape)
    velocities[pinned] = 0.0
    return model, model.state_at(x, velocities)


def _twisted(data: Path, speed: float) -> Iterable[Row]:
    case = f"twisted_arm_{speed}"
    plots: list[Plot | Snapshot] = []
    for contrast in CONTRASTS:
        model, state = _state(data, contrast, speed)
        problem = StepProblem(model, state)
        if not plots:
            turned = np.linalg.det(model.elastic.deformation(problem.predicted).F) <= 0.0
            yield row(case, "tets inside out where inertia would lead", int(turned.sum()))
            plots.append(Snapshot("the state", state.positions, model.mesh.tets))
        curves, ends = [], {}
        for label, solver, style in (("Mixed FEM", "mixed_fem", "C1o-"), ("Newton", "newton", "C2o-")):
            words = f"{label}, contrast {contrast:.0e}"
            try:
                _settled, report = problem.step(solver, CAP, tolerance=1e-5)
                ends[label] = problem.step(solver, CAP)[0].positions  # until round-off, or the cap
            except SinewError:
                yield row(case, f"{words}: iterations", np.inf)
                continue
            most = MOST if solver == "mixed_fem" else None
            yield row(case, f"{words}: iterations", report.iterations, "", at_most=most)
            norms = gradient_norms(problem.step(solver, 20)[1], 20)
            curves.append(Curve(label, np.arange(21), np.maximum(norms, 1e-300), style))
            for count in (5, 10):
                yield row(case, f"{words}: gradient after {count}", norms[count], "kg m")
        if len(ends) == 2:
            apart = np.abs(ends["Mixed FEM"] - ends["Newton"]).max() / model.size
            yield row(case, f"|dx| / size, contrast {contrast:.0e}", apart)
            mixed, newton = (problem.value(ends[label]) for label in ("Mixed FEM", "Newton"))
            above = (mixed - newton) / abs(newton)
            yield row(case, f"potential over Newton's, contrast {contrast:.0e}", above, "", at_most=1e-6)
        plots.append(Plot(f"contrast {contrast:.0e}", "iteration", "gradient norm, kg m", curves, log_y=True))
    draw("mixed-fem", case, plots)
