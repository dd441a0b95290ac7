"""Changes amid a simulation: the body continues as if it had always been so, and only what changed is recomputed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sinew.core.foundation.process.foreign_module import is_installed
from sinew.core.foundation.schema.settings import ResolutionSettings, SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.jobs.job.environment import Ground
from sinew.core.jobs.store.cached_subspace import CachedSubspace
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.subspaces.dense_system import DenseSystem
from sinew.core.methods.subspaces.reduced_model import subspace_of
from sinew.core.simulation.frame_loop.body_timeline import StateUpdate
from sinew.core.simulation.frame_loop.stepper import Stepper
from sinew.core.simulation.preparation import prepare as preparation
from sinew.core.simulation.preparation.loads import Loads
from sinew.core.simulation.preparation.prepare import prepare

from ..jobs import shaken_bar

OPTIONS = pytest.mark.parametrize(
    "options",
    [
        *({"solver": name} for name, kind in SOLVER_KINDS.items() if kind.bears_obstacles),
        {"linear_solver": "pcg"},
        {"stiffness_damping": 0.01},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
HELD, ALL = np.array([1, 1, 0, 0], dtype=bool), slice(None)


def changing(options, method="lattice", stiffer=(1.0, 1.0, 3.0, 3.0), held=HELD, pins=ALL):
    """The shaken bar, low over the ground; its stiffness is keyed, and some pins let go."""
    if method == "clean" and not is_installed("tetgen"):
        pytest.skip("TetGen is not installed")
    bar = shaken_bar(4)
    let_go = np.ones((4, len(bar.body.pinned_vertices)), dtype=bool)
    let_go[:, pins] = held[:, None]
    return bar.with_body(
        pin_held=let_go,
        moduli=np.multiply.outer(stiffer, [material.youngs_modulus for material in bar.body.materials]),
        resolution=ResolutionSettings(cells_across=4, method=method),
        colliders=(Ground(height=-0.002),),
        solver=SolverSettings(max_iterations=10, modes=4, cubature_points=40, mass_damping=1.0, **options),
    )


@OPTIONS
def test_a_release_and_a_stiffness_at_once_are_a_body_that_was_so(options, monkeypatch):
    """It is that of a job that begins with these materials and pins, in the same modes."""
    job = changing(options, pins=slice(None, None, 2))
    prepared = prepare(job)
    stepper = Stepper(job, prepared)
    state = stepper.advance(prepared.first_state(), 1)[0]
    changed = stepper.advance(state, 2)[0]
    if prepared.subspace is not None:
        found = prepared.subspace.parts
        monkeypatch.setattr(
            preparation, "cached_subspace", lambda model, *_: CachedSubspace(subspace_of(model, found), 1.0, 0)
        )
    stiff = tuple(replace(m, youngs_modulus=3.0 * m.youngs_modulus) for m in job.body.materials)
    job = job.with_body(materials=stiff, moduli=None, pin_held=np.tile(job.body.pin_held[2], (4, 1)))
    again = prepare(job)
    # Contact keeps the stiffness that a bake begins with.
    again.loads._touching.moduli[:] = prepared.loads._touching.moduli
    other = Stepper(job, again).advance(state, 2)[0]
    assert np.abs(again.surface(other.positions) - prepared.surface(changed.positions)).max() <= 1e-9
    soft = Stepper(job.with_body(moduli=None), prepared).advance(state, 2)[0]
    assert np.abs(prepared.surface(soft.positions) - prepared.surface(changed.positions)).max() > 1e-5


@OPTIONS
@pytest.mark.parametrize("method", ["lattice", "clean"])
def test_what_was_kept_changes_no_bit(options, method):
    """A solver that is made anew for the changed body gives the same."""
    job = changing(options, method)
    prepared = prepare(job)
    stepper = Stepper(job, prepared)
    state = stepper.advance(prepared.first_state(), 1)[0]
    changed = stepper.advance(state, 2)[0]
    stepper._solver = make_solver(stepper.space, job.body.solver, prepared.linear_solver)
    assert np.array_equal(stepper.advance(state, 2)[0].positions, changed.positions)
    at_once = Stepper(job, prepared).advance(state, 2)[0]
    assert np.array_equal(at_once.positions, changed.positions)


@pytest.mark.parametrize(
    "options, method, systems",
    [
        ({"solver": "newton"}, "clean", (1, 1, 2)),  # the symbolic factor is kept when stiffness changes
        ({"solver": "mixed_fem"}, "lattice", (1, 1, 1)),  # and when springs of pins let go
        ({"linear_solver": "pcg"}, "lattice", (0, 0, 0)),  # a body without thin stiff parts has no factor
        ({"solver": "subspace_fem"}, "clean", (1, 1, 2)),
    ],
)
def test_no_more_is_made_anew_than_must_be(monkeypatch, options, method, systems):
    """In the frames: nothing, the stiffness, the pins."""
    job = changing({**options, "substeps": 2}, method, (1.0, 1.0, 3.0, 3.0), np.array([1, 1, 1, 0], dtype=bool))
    prepared = prepare(job)
    made = []

    def counted(kind, name, label):
        real = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *args: made.append(label) or real(*args))

    counted(DenseSystem if prepared.subspace else prepared.linear_solver.solver, "__init__", "system")
    counted(Loads, "held", "touching")
    carried = prepared.pin_springs.carried
    springs = prepared.pin_springs._replace(carried=lambda *args: made.append("springs") or carried(*args))
    prepared = replace(prepared, pin_springs=springs)
    stepper, state, counts = Stepper(job, prepared), prepared.first_state(), []
    for frame in (1, 2, 3):
        state = stepper.advance(state, frame)[0]
        counts.append([made.count(what) for what in ("system", "touching", "springs")])
    sprung = method == "lattice"
    assert counts == [
        [systems[0], 1, 1 * sprung],
        [systems[1], 1, 3 * sprung],
        [systems[2], 2, 3 * sprung],
    ]


def test_another_body_is_another_stepper():
    """Keyed values alone continue to change."""
    job = changing({"solver": "newton"})
    coarse = prepare(job)
    fine = prepare(job.with_body(resolution=ResolutionSettings(cells_across=6)))
    stepper = Stepper(job, coarse)
    stepper.advance(coarse.first_state(), 1)
    stepper.follow(StateUpdate(body=fine))
    ends = [each.advance(fine.first_state(), 2)[0].positions for each in (stepper, Stepper(job, fine))]
    assert np.array_equal(*ends)
