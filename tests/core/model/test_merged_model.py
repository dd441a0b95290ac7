"""Several bodies in one model move as each alone."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.benchmarks.bodies import block, held_end
from sinew.core.contact.penalty.contact_points import ContactPoints
from sinew.core.contact.penalty.obstacle import GroundPlane
from sinew.core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.foundation.schema.solver_kinds import SOLVER_KINDS
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.mechanics.forces.springs import Springs
from sinew.core.methods.model.merged_model import merge_models, merge_states, points_of, split_state
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.numerics.integrators.registry import INTEGRATORS

H = 1 / 48
FULL_SPACE = [name for name, kind in SOLVER_KINDS.items() if not kind.takes_modes and not kind.takes_nodes]


def bodies():
    """A pinned bar, a free cube of another energy, and a free bar of two materials."""
    bar, cube, other = (
        block((6, 2, 2), (0.3, 0.1, 0.1)),
        block((2, 2, 2), (0.1, 0.1, 0.1)),
        block((4, 2, 2), (0.4, 0.2, 0.2)),
    )
    x = other.rest_positions[other.tets].mean(axis=1)[:, 0]
    return [
        build_model(bar, 1e5, 0.4, 1000.0, pinned=held_end(bar)),
        build_model(cube, 3e4, 0.3, 1200.0, "fung"),
        build_model(
            other, np.where(x < 0.2, 1e5, 1e7), 0.3, 900.0, ("neo_hookean", "corotated"), (x > 0.2).astype(int)
        ),
    ]


def loads(model, whole=None, body=0):
    """A spring that pulls at a corner, and the ground; as the body's own, or as its part of the whole."""

    def carry(embedding):
        return model.points(embedding) if whole is None else points_of(whole, body, embedding)

    rest, mesh = model.mesh.rest_positions, model.mesh
    tip = rest[rest.sum(axis=1).argmax()]
    spring = Springs(carry(embed(tip, mesh)), np.array([40.0]), tip[None] + [0.05, 0.02, -0.1])
    moduli = model.elastic.youngs_modulus
    points = ContactPoints.of(SurfaceMesh(rest, boundary_triangles(mesh.tets)), mesh, moduli, carry)
    numbers = PenaltyParameters.for_body(1000.0, 0.1, 9.81, H)
    return spring, PenaltyContact(points, GroundPlane(-0.005), 0.0, numbers, H)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("solver", FULL_SPACE)
def test_several_bodies_in_one_model_move_as_each_alone(solver, integrator):
    """Pins, a spring, the ground: to 1e-10 of the size. Not friction: its lag is renewed when a step converges, which
    they do together.
    """
    settings = SolverSettings(solver=solver, integrator=integrator, max_iterations=100, tolerance=1e-13)
    alone = bodies()
    whole = merge_models(alone)
    together = make_solver(whole, settings)
    solvers = [make_solver(model, settings) for model in alone]
    states = [model.rest_state() for model in alone]
    state = merge_states(states)
    for _ in range(4):
        acting = [load for k, model in enumerate(alone) for load in loads(model, whole, k)]
        state, _report = together.step(state, whole.mesh.rest_positions[whole.pinned], H, acting)
        for k, model in enumerate(alone):
            pins = model.mesh.rest_positions[model.pinned]
            states[k], _report = solvers[k].step(states[k], pins, H, loads(model))
    assert np.abs(states[1].positions - alone[1].mesh.rest_positions).max() > 5e-3
    for model, one, own in zip(alone, split_state(whole, state), states, strict=True):
        for name, values in own.arrays().items():
            scale = {"positions": 1e-10 * model.size, "previous_positions": 1e-10 * model.size}.get(name, 1e-8)
            assert np.abs(one.arrays()[name] - values).max() <= scale, name


def test_tolerances_are_of_the_smallest_body():
    assert merge_models(bodies()).size == pytest.approx(0.1)
