"""Bodies in equilibrium stay there: uniform, of two stiffnesses, on a plane; without nodes they converge to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ...core.contact.penalty.contact_points import ContactPoints
from ...core.contact.penalty.obstacle import GroundPlane
from ...core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from ...core.foundation.events import ignore
from ...core.foundation.schema.settings import SolverSettings
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.mechanics.forces.step_potential import Load
from ...core.methods.model.model import Model
from ...core.methods.solvers import make_solver
from ...core.simulation.frame_loop.compile_kernels import warm_up
from ..bodies import stiff_slabs
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from ..released import BAR, DENSITY, EARTH, as_published, bar, statics, with_nodes

SIZE, STEP, STEPS = BAR[0], 0.005, 100
CELLS = (16, 4, 4)
UNIFORM, SOFT, STIFF = 3e4, 1e5, 1e9
FLOOR = -0.01
"""Depth of the plane that supports the free end, m below the bar."""
TIGHT = {"tolerance": 1e-13, "gravity": EARTH}
SETTINGS = SolverSettings(solver="conjac", gravity=EARTH, max_iterations=50, tolerance=1e-12)


def cases(_data: Path | None) -> Iterator[Case]:
    """Yield a uniform bar, one of slabs, and one supported by a plane."""
    yield Case("statics_uniform", lambda: _statics("statics_uniform", bar(UNIFORM, cells=CELLS)))
    yield Case("statics_contrast", lambda: _statics("statics_contrast", _slabs()))
    yield Case("statics_plane", _on_plane)


def _slabs() -> Model:
    mesh = bar(SOFT, cells=CELLS).mesh
    return bar(stiff_slabs(mesh, STIFF, SOFT), cells=CELLS)


def _statics(case: str, model: Model) -> Iterable[Row]:
    warm_up(ignore)
    yield from _compared(case, model, statics(model, **TIGHT), (), ())


def _on_plane() -> Iterable[Row]:
    """Simulate a bar held at one end, supported by a plane with friction, on which it does not slip."""
    warm_up(ignore)
    model = bar(UNIFORM, cells=CELLS)
    surface = SurfaceMesh(model.mesh.rest_positions, boundary_triangles(model.mesh.tets))
    points = ContactPoints.of(surface, model.mesh, np.full(len(model.mesh.tets), UNIFORM), model.points)
    numbers = PenaltyParameters.for_body(DENSITY, model.size, -EARTH[2], STEP)
    smooth, rough = (PenaltyContact(points, GroundPlane(FLOOR), friction, numbers, STEP) for friction in (0.0, 0.5))
    x = statics(model, loads=(smooth,), **TIGHT)
    yield row("statics_plane", "lowest point below the plane, sizes", (FLOOR - x[:, 2].min()) / SIZE)
    yield from _compared("statics_plane", model, x, (smooth,), (rough,))


def _compared(case: str, model: Model, x: np.ndarray, smooth: Sequence[Load], rough: Sequence[Load]) -> Iterator[Row]:
    """Simulate half a second: without nodes from rest, with nodes from the static solution (n,3)."""
    yield row(case, "sag, sizes", float(np.abs(x - model.mesh.rest_positions).max() / SIZE))
    for nodes in (0, 4):
        carried = with_nodes(model, as_published(model, nodes) if nodes else [])
        if not nodes:
            stepper, state = make_solver(carried, SETTINGS), carried.rest_state()
            for k in range(1, 4):
                state, _report = stepper.step(state, state.positions[model.pinned], STEP, tuple(smooth))
                off = np.abs(state.positions - x).max() / SIZE
                yield row(case, f"from rest, 0 nodes, off statics after {k} steps", off, "sizes", at_most=1e-9)
        for name, loads in {"": smooth, ", friction 0.5": rough}.items():
            if name and not loads:
                continue
            stepper, state, farthest = make_solver(carried, SETTINGS), carried.state_at(x), 0.0
            for _ in range(STEPS):
                state, _report = stepper.step(state, x[model.pinned], STEP, tuple(loads))
                farthest = max(farthest, float(np.abs(state.positions - x).max() / SIZE))
            yield row(case, f"{nodes} nodes, off statics{name}", farthest, "sizes", at_most=1e-9)
    draw("conjac", case, [Snapshot("statics", x, model.mesh.tets, model.elastic.parameters[:, 0])])
