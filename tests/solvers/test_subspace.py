"""The subspace solvers against the full space, and what the skinning subspace promises."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sinew.benchmarks.bodies import bent, block, held_end
from sinew.core.contact.penalty.contact_points import ContactPoints
from sinew.core.contact.penalty.obstacle import GroundPlane
from sinew.core.contact.penalty.penalty import PenaltyContact, PenaltyParameters
from sinew.core.foundation.errors import SubspaceError
from sinew.core.foundation.schema.settings import SolverSettings
from sinew.core.geometry.mesh.embedding import embed
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.geometry.mesh.tet_mesh import TetMesh
from sinew.core.geometry.mesh.topology import boundary_triangles
from sinew.core.mechanics.energies import ENERGIES
from sinew.core.methods.model.model import build_model
from sinew.core.methods.solvers import make_solver
from sinew.core.methods.subspaces.cubature import every_tet
from sinew.core.methods.subspaces.cubature_check import cubature_energy_fraction
from sinew.core.methods.subspaces.display_handles import DisplayHandles
from sinew.core.methods.subspaces.elastic_laplacian import elastic_laplacian
from sinew.core.methods.subspaces.reduced_model import in_basis, skinning_subspace
from sinew.core.methods.subspaces.reduced_stiffness import _tiles, symmetric
from sinew.core.methods.subspaces.skinning import skinned
from sinew.core.methods.subspaces.skinning_modes import skinning_modes
from sinew.core.numerics.integrators.registry import INTEGRATORS

from .bodies import bar

H = 1 / 50
TWINS = [("subspace_mixed_fem", "mixed_fem"), ("subspace_fem", "newton")]


@pytest.mark.parametrize("energy", ENERGIES)
@pytest.mark.parametrize(("solver", "twin"), TWINS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_vertex_and_every_tet_is_the_full_space(solver, twin, energy, integrator):
    """Basis the identity, cubature all tets: the same motion, damped and stopped after three iterations a step. What
    only a subspace can afford is then tried in the full space too.
    """
    model = bar(energy=energy, stiff=1e7)
    X = model.mesh.rest_positions
    every = every_tet(model.elastic.weights)
    space, ends = in_basis(model, np.eye(len(model.mesh.rest_positions)), model.pinned, every), []
    for name, at in ((solver, space), (twin, model)):
        settings = SolverSettings(
            solver=name, max_iterations=3, integrator=integrator, mass_damping=0.5, stiffness_damping=1e-3
        )
        start = bent(model)
        state = start if at is model else space.state_at(start.positions - X, start.velocities)
        stepper = make_solver(at, settings)
        stepper.system.is_small = True
        for _ in range(3):
            state, _report = stepper.step(state, state.positions[at.pinned], H)
        ends.append(state.positions if at is model else X + state.positions)
    assert np.abs(ends[1] - X).max() > 0.02
    assert np.abs(ends[0] - ends[1]).max() <= 1e-9 * model.size


@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_the_assembled_stiffness_is_what_the_stresses_do(turn):
    model = bar(stiff=1e8)
    space = skinning_subspace(model, 5, 60).model
    rng = np.random.default_rng(1)
    at, u = np.array([turn, 1.0])[:, None, None] * rng.standard_normal((2, space.unknowns, 3)) * 1e-2
    tangent = space.elastic.tangent(space.elastic.deformation(at), projected=False)
    K = symmetric(space.stiffness(tangent, 0.5))
    forces = space.elastic.nodal_forces(tangent.stress_change(space.elastic.delta_F(u))) + 0.5 * space.mass @ u
    np.testing.assert_allclose((K @ u.T.ravel()).reshape(3, -1).T, forces, atol=1e-11 * np.abs(forces).max())


def test_a_turned_body_is_in_the_span_and_costs_nothing():
    """Turned by 90 degrees ([SubMFEM23] Fig. 5)."""
    model = bar(pinned=False)
    space = skinning_subspace(model, 6, 60).model
    X = model.mesh.rest_positions
    turned = X @ np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [0.3, 0.1, -0.2]
    U = np.linalg.lstsq(space.basis, turned - X, rcond=None)[0]
    assert np.abs(X + space.basis @ U - turned).max() <= 1e-10 * model.size
    stretched = space.elastic.value(space.elastic.deformation(space.basis.T @ (model.mass @ (1.01 * X - X))))
    assert space.elastic.value(space.elastic.deformation(U)) <= 1e-18 * stretched


@pytest.mark.parametrize("solver", [solver for solver, _twin in TWINS])
@pytest.mark.parametrize("energy", ENERGIES)
def test_free_fall_in_a_subspace(solver, energy):
    """Momentum gains the weight times the time, whatever the cubature."""
    model = bar(energy=energy, pinned=False, stiff=1e7)
    space = skinning_subspace(model, 5, 40).model
    settings = SolverSettings(solver=solver, max_iterations=200, tolerance=1e-13)
    X = model.mesh.rest_positions
    state = space.state_at(space.basis.T @ (model.mass @ (X * [1.1, 0.95, 1.0] - X)))
    weight = model.masses.sum() * np.array(settings.gravity)
    stepper = make_solver(space, settings)
    for k in range(1, 4):
        state, _report = stepper.step(state, np.empty((0, 3)), H)
        momentum = space.lumped_masses @ state.velocities
        assert np.linalg.norm(momentum - k * H * weight) <= 1e-9 * k * H * np.linalg.norm(weight)


@pytest.mark.parametrize(("cells", "apart"), [(2, 0.04), (4, 0.02), (8, 0.01)])
@pytest.mark.parametrize("modes", [8, 32])
def test_points_follow_their_tets_and_are_shown_there(cells, modes, apart):
    """Whatever moves the vertices, points between them go with their tets; by the handles that are shown they lie
    beside that by little, at pins by nothing, and farther from each other the coarser the tets are. Handles of the
    vertices themselves would be off by hundreds of sizes.
    """
    mesh = block((2 * cells, cells, cells), (2.0, 1.0, 1.0))
    model = build_model(mesh, 1e5, 0.4, 1e3, pinned=held_end(mesh))
    subspace = skinning_subspace(model, min(modes, len(mesh.rest_positions) - len(model.pinned)), 0)
    space, skinning = subspace.model, subspace.model.skinning
    rng = np.random.default_rng(3)
    at = np.concatenate([rng.uniform(0.0, 1.0, (400, 3)) * [2.0, 1.0, 1.0], mesh.rest_positions[model.pinned]])
    points = embed(at, mesh)
    shown = DisplayHandles(subspace, points)
    bend = np.hstack([0 * at[:, :1], at[:, :1] ** 2, np.sin(2.0 * at[:, :1])])
    held = np.zeros((len(space.pinned), 3))
    bent = space.points(points).unknowns_at(at + 0.1 * bend, np.ones(len(at)), space.pinned, held)
    stepper = make_solver(space, SolverSettings(solver="subspace_mixed_fem", max_iterations=8))
    state = space.rest_state()
    for _ in range(6):
        state, _report = stepper.step(state, state.positions[space.pinned], 1 / 24)
    for U in (bent, state.positions):
        moved = space.points(points).positions(U)
        x = mesh.rest_positions + space.basis @ U
        assert np.abs(moved - points.apply(x, mesh.tets)).max() <= 1e-12
        seen = skinned(at, shown.weights, skinning.coordinates, shown.of(U))
        beside = np.linalg.norm(seen - moved, axis=1)
        assert beside.max() <= apart * np.abs(moved - at).max()
        assert shown.max_difference(U) == pytest.approx(beside.max(), rel=1e-6)
        assert np.abs(seen - at)[400:].max() <= 1e-12


def test_weights_are_flat_where_it_is_stiff():
    """Material-aware ([SubMFEM23] Fig. 4): the lowest weights vary in the soft ends, not in the stiff middle."""
    model = bar(pinned=False)
    W = skinning_subspace(model, 4, 40).parts.weights[:, 1:]
    x = model.mesh.rest_positions[:, 0]
    middle = W[np.abs(x - 0.2) < 0.09]
    assert np.ptp(middle, axis=0).max() <= 1e-2 * np.ptp(W, axis=0).max()


@pytest.mark.parametrize(("soft", "stiff"), [(1e5, 1e5 + 1e12), (1e3, 1e15), (1.0, 1e12), (1.0, 1e15)])
@pytest.mark.parametrize("pinned", [False, True])
def test_modes_are_found_at_any_contrast(soft, stiff, pinned):
    """Against a stiff part that is one point: the Laplacian of the soft tets with its vertices joined, by a dense
    solver.
    """
    mesh = block((24, 4, 4), (1.2, 0.2, 0.2))
    place = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    stiff_tets = np.abs(place - 0.6) < 0.35
    held = held_end(mesh) if pinned else ()

    def laplacian(in_soft, in_stiff):
        return elastic_laplacian(build_model(mesh, np.where(stiff_tets, in_stiff, in_soft), 0.4, 1e3, pinned=held))

    model = build_model(mesh, np.where(stiff_tets, stiff, soft), 0.4, 1e3, pinned=held)
    joined = np.arange(len(mesh.rest_positions))
    joined[np.unique(mesh.tets[stiff_tets])] = mesh.tets[stiff_tets][0, 0]
    joined = np.unique(joined, return_inverse=True)[1]
    together = sp.csr_matrix((np.ones(len(joined)), (np.arange(len(joined)), joined)))
    free = np.setdiff1d(np.arange(together.shape[1]), joined[model.pinned])
    H = together.T @ (2.0 * laplacian(1.0, 1.0) - laplacian(1.0, 2.0)) @ together
    M = together.T @ model.mass @ together
    expected = soft * scipy.linalg.eigh(H[free][:, free].toarray(), M[free][:, free].toarray(), eigvals_only=True)[:8]
    found = skinning_modes(model, 8)
    # Entries of 1e10 soft ones are rounded by 1e-6 of these, at some 400 stiff vertices.
    assert found.eigenvalues == pytest.approx(expected, rel=1e-3, abs=1e-6 * expected[1])
    flat = found.weights[np.unique(mesh.tets[stiff_tets])]
    assert np.ptp(flat, axis=0).max() <= 1e-5 * np.abs(found.weights).max()


def test_weights_do_not_depend_on_the_elements():
    """Stretches that several tets share leave differences between those tets nearly free, and weights followed them."""
    mesh = block((8, 3, 3), (2.0, 0.6, 0.6))
    E = np.where(mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] > 1.0, 1e7, 1e5)
    models = [build_model(mesh, E, 0.45, 1e3, pinned=held_end(mesh), smoothed=smoothed) for smoothed in (False, True)]
    assert len(models[1].elements) < 0.5 * len(models[0].elements)
    tets, smoothed = (elastic_laplacian(model) for model in models)
    assert abs(tets - smoothed).max() <= 1e-12 * abs(tets).max()


def test_cubature_feels_the_body():
    """20 points a mode leave the lowest movements most of their energy, all tets the whole; a few points are limp."""
    mesh = block((12, 3, 3), (4.0, 1.0, 1.0))
    model = build_model(mesh, 1e6, 0.4, 1e3, pinned=held_end(mesh))
    shares = [cubature_energy_fraction(model, skinning_subspace(model, 5, points).model) for points in (8, 100, 10**6)]
    assert shares[0] < 0.01
    assert 0.5 < shares[1] <= 1.0 + 1e-9
    assert shares[2] == pytest.approx(1.0, abs=1e-9)


def test_soft_parts_get_more_points_for_their_volume():
    """[SubMFEM23] Fig. 6."""
    mesh = block((24, 6, 6), (4.0, 1.0, 1.0))
    stiff = np.abs(mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] - 2.0) < 1.0
    model = build_model(mesh, np.where(stiff, 1e10, 1e6), 0.4, 1e3, pinned=held_end(mesh))
    at = skinning_subspace(model, 8, 160).parts.elements
    density = [np.count_nonzero(stiff[at] == kind) / mesh.volumes[stiff == kind].sum() for kind in (False, True)]
    assert density[0] > 1.5 * density[1]


def test_every_island_moves_by_itself():
    one = block((2, 2, 2), (0.1, 0.1, 0.1))
    n = len(one.rest_positions)
    two = TetMesh(
        np.concatenate([one.rest_positions, one.rest_positions + [0.3, 0, 0]]),
        np.concatenate([one.tets, one.tets + n]),
        np.concatenate([one.fill, one.fill]),
    )
    model = build_model(two, 1e5, 0.3, 1e3)
    with pytest.raises(SubspaceError, match="2 separate parts"):
        skinning_subspace(model, 1, 10)
    space = skinning_subspace(model, 2, 10).model
    moved = np.zeros((2 * n, 3))
    moved[n:] = [0.1, 0.2, 0.3]
    U = space.basis.T @ (model.mass @ moved)
    assert np.abs(space.basis @ U - moved).max() <= 1e-12
    assert space.elastic.value(space.elastic.deformation(U)) <= 1e-20


def test_a_pin_carries_the_body_when_it_turns():
    """The end of a bar is turned by a quarter: the handle meets its targets at once, and the body comes to rest so."""
    model = bar(stiff=1e5)
    subspace = skinning_subspace(model, 8, 80)
    space, X = subspace.model, model.mesh.rest_positions

    def turned(angle):
        c, s = np.cos(angle), np.sin(angle)
        return X @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])

    settings = SolverSettings(solver="subspace_mixed_fem", gravity=(0.0, 0.0, 0.0), mass_damping=10.0)
    stepper, state = make_solver(space, settings), space.rest_state()
    for k in range(1, 81):
        end = turned(np.pi / 2 * min(1.0, k / 20))
        targets = subspace.pins.unknowns((end - X)[model.pinned])
        state, report = stepper.step(state, targets, 1 / 24)
        at = X + space.basis @ state.positions
        assert report.converged
        assert np.abs(at - end)[model.pinned].max() <= 1e-12
    assert np.abs(at - end).max() <= 1e-3 * model.size


def test_too_many_modes_are_refused():
    with pytest.raises(SubspaceError, match="free vertices"):
        skinning_subspace(
            build_model(block((1, 1, 1), (1, 1, 1)), 1e5, 0.3, 1e3, pinned=held_end(block((1, 1, 1), (1, 1, 1)))),
            40,
            10,
        )


def test_the_same_body_gives_the_same_bits():
    first, second = (skinning_subspace(bar(), 6, 50) for _ in range(2))
    assert np.array_equal(first.model.basis, second.model.basis)
    assert np.array_equal(first.parts.elements, second.parts.elements)


def test_a_matrix_of_what_is_added_is_there_when_something_is():
    model = bar(stiff=1e7)
    settings = SolverSettings(solver="subspace_fem", max_iterations=2)
    space = skinning_subspace(model, 10, 60).model
    state, stepper, whole = space.rest_state(), make_solver(space, settings), 8 * (3 * space.unknowns) ** 2
    stepper.step(state, state.positions[space.pinned], H)
    tracemalloc.start()
    try:
        stepper.system.add(lambda matrix: matrix.any())
        assert whole <= tracemalloc.get_traced_memory()[0] < 1.1 * whole
    finally:
        tracemalloc.stop()


def test_stiff_parts_turn_freely_after_two_iterations():
    """Two rigid rods on soft joints fall; the converged motion's angular momentum is kept within a hundredth."""
    mesh = block((20, 2, 2), (1.0, 0.1, 0.1))
    place = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    soft = (place < 0.1) | (np.abs(place - 0.5) < 0.05)
    model = build_model(mesh, np.where(soft, 1e6, 1e10), 0.45, 1e3, "fixed_corotated", pinned=held_end(mesh))
    space = skinning_subspace(model, 6, 150).model
    momenta = []
    for settings in ({"max_iterations": 100, "tolerance": 1e-9}, {"max_iterations": 2, "tolerance": 0.0}):
        stepper, state = make_solver(space, SolverSettings(solver="subspace_mixed_fem", **settings)), space.rest_state()
        course = []
        for _ in range(30):
            state, _report = stepper.step(state, state.positions[space.pinned], 1 / 60)
            x, v = mesh.rest_positions + space.basis @ state.positions, space.basis @ state.velocities
            course.append(np.cross(x, model.mass @ v).sum(axis=0))
        momenta.append(np.array(course))
    assert np.linalg.norm(momenta[1] - momenta[0]) <= 0.01 * np.linalg.norm(momenta[0])


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_stiff_limbs_with_soft_joints_settle_on_the_ground(friction):
    """A held arm falls: what comes to touch, and limbs that are pressed from their ends, do not cost iterations."""
    mesh = block((24, 2, 2), (1.2, 0.1, 0.1))
    E = np.where(mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0] % 0.4 < 0.1, 1e5, 1e9)
    model = build_model(mesh, E, 0.4, 1000.0, pinned=held_end(mesh))
    space = skinning_subspace(model, 8, 200).model
    surface = SurfaceMesh(mesh.rest_positions, boundary_triangles(mesh.tets))
    points = ContactPoints.of(surface, mesh, E, space.points, 200)
    step, ground = 1 / 24, GroundPlane(-0.15)
    numbers = PenaltyParameters.for_body(1000.0, mesh.size, 9.81, step)
    contact = PenaltyContact(points, ground, friction, numbers, step, points.points.held(space.pinned))
    solver = make_solver(space, SolverSettings(solver="subspace_mixed_fem", max_iterations=10))
    state, touched = space.rest_state(), 0
    for _ in range(12):
        state, report = solver.step(state, state.positions[space.pinned], step, (contact,))
        assert report.converged, report.reason
        touched += (
            ground.begin_step(points.points.positions(state.positions), np.empty(0)).initial_contacts.gaps < 0.0
        ).any()
    assert touched > 5


@pytest.mark.parametrize("columns", [0, 1, 33, 68, 1089])
def test_tiles_hold_all_columns_and_zeros(columns):
    G = np.random.default_rng(0).standard_normal((6, columns))
    tiles = _tiles(G)
    whole = np.concatenate([np.empty((6, 0)), *tiles], axis=1)
    assert np.array_equal(whole[:, :columns], G) and not whole[:, columns:].any()
    assert whole.shape[1] - columns < tiles.shape[2], "less than a tile is filled up"
