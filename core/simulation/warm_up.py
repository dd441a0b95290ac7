"""Compile every kernel on tiny problems, at a moment that can be shown; later starts read them from the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import jit
from ..body.meeting_surfaces import Standing, meeting
from ..checks.skin_warnings import skin_warnings
from ..contact.collider_pose import ColliderPose
from ..contact.collider_surface import ColliderSurface
from ..contact.contact_points import ContactPoints
from ..contact.ipc import MISSING
from ..contact.lattice_skin import lattice_skin
from ..contact.mesh_collider import MeshCollider
from ..contact.obstacle import GroundPlane
from ..contact.penalty import Contact, ContactNumbers
from ..eigenfit.stretch_potential import StretchLoad, StretchModes
from ..energies import ENERGIES
from ..energies.isotropic import IsotropicEnergy
from ..energies.kinematics import Deformation, Stretch
from ..events import OnEvent, Phase
from ..forces.absorption import AbsorbingSurface
from ..forces.springs import Springs
from ..forces.step_potential import Load
from ..job.job import Job
from ..linear_solvers.factorized import factorized
from ..linear_solvers.registry import fastest
from ..mesh.embedding import embed
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_search import SurfaceSearch
from ..mesh.tet_mesh import TetMesh
from ..model.joined import joined
from ..model.model import Model, build_model
from ..settings import EARTH, ResolutionSettings, SolverSettings
from ..solver_kinds import SOLVER_KINDS
from ..solvers import make_solver
from ..solvers.registry import space_of
from ..subspaces.space import Space
from ..tetrahedra.intersections import intersecting_triangles
from ..tetrahedra.tetrahedralize import tetrahedralize
from ..tetrahedra.thin_parts import thin_parts
from .group import meet


def _tetrahedron() -> SurfaceMesh:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    return SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))


def _on_surface(surface: SurfaceMesh, mesh: TetMesh) -> None:
    embed(surface.positions, mesh)
    thin_parts(surface, 1.0)
    n = len(surface.positions)
    twice = (
        np.vstack([surface.positions, surface.positions + 0.1]),
        np.vstack([surface.triangles, surface.triangles + n]),
    )
    intersecting_triangles(*twice)


def _evaluate(law: IsotropicEnergy) -> None:
    F, s = np.eye(3)[None].copy(), np.array([[1.0, 1, 1, 0, 0, 0]])
    p = np.ones((1, 2 + len(law.own)))
    for function in (law.value, law.gradient, law.tangent):
        function(Deformation.of(F), p)
    for function in (law.stretch_value, law.stretch_stress, law.stretch_tangent):
        function(Stretch.of(s), p)


def _stages() -> Iterator[tuple[str, Callable[[], Any]]]:
    surface = _tetrahedron()
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=2))
    yield "tetrahedra", lambda: _on_surface(surface, mesh)
    for law in ENERGIES.values():
        yield law.label, partial(_evaluate, law)
    model = build_model(mesh, 1e5, 0.4, 1e3, pinned=np.array([0]))
    labels = {kind.label: SolverSettings(solver=kind.name, max_iterations=1, modes=2) for kind in SOLVER_KINDS.values()}
    iterative = SolverSettings(linear_solver="pcg", max_iterations=1)
    for label, settings in {**labels, "Conjugate Gradients": iterative}.items():
        yield label, lambda settings=settings: _step(model, settings, _pin_springs)

    yield "contact", lambda: _step(model, SolverSettings(max_iterations=1), partial(_contact_loads, surface))
    if not MISSING:
        yield "meeting", lambda: _meet(model)
    yield "fields", lambda: _search(surface)
    # What bodies that meet need alone comes last.
    yield "skin", lambda: _skin(surface)


def load_kernels(job: Job) -> None:
    """Read from the disk what the steps of a job will run, by a step of a tiny body: its first frame does not wait."""
    surface = _tetrahedron()
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=2))
    energies = tuple(dict.fromkeys(material.energy for material in job.body.materials))
    kinds = np.arange(len(mesh.tets), dtype=np.int32) % len(energies)
    model = build_model(mesh, 1e5, 0.4, 1e3, energies=energies, energy_of_tet=kinds, pinned=np.array([0]))
    chosen = job.body.solver
    settings = SolverSettings(
        solver=chosen.solver,
        integrator=chosen.integrator,
        theta=chosen.theta,
        **{name: getattr(chosen, name) for name in chosen.kind.own},
        linear_solver=chosen.linear_solver,
        modes=2,
        mass_damping=min(chosen.mass_damping, 1.0),
        stiffness_damping=min(chosen.stiffness_damping, 0.01),
    )
    loads = partial(_contact_loads, surface) if job.body.colliders else _pin_springs
    _step(model, settings, loads)
    if meet([job]) and not MISSING:
        _meet(model)
    if any(each.form.shape == "SURFACE" for each in job.body.force_fields):
        _search(surface)
    if job.body.absorbers:
        AbsorbingSurface(surface.positions, surface.triangles, 0.5).passed(surface.positions, surface.positions)


def _meet(model: Model) -> None:
    """A step of a body on a plate, which nothing may cross."""
    whole, low = joined([model]), float(model.mesh.rest_positions[:, 2].min())
    corners = np.array([[-9.0, -9.0, low - 0.01], [9.0, -9.0, low - 0.01], [0.0, 9.0, low - 0.01]])
    met = meeting(whole, Standing(("",), (np.array([[0, 1, 2]]),), (corners[None],)), 0.5)
    _step(whole, SolverSettings(solver="newton", max_iterations=1), lambda _space: (met,))


def _skin(surface: SurfaceMesh) -> None:
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=6))
    skin = lattice_skin(surface, mesh)
    skin_warnings(surface, mesh, SurfaceMesh(skin.rest, skin.faces), 6)


def _search(surface: SurfaceMesh) -> None:
    SurfaceSearch(surface.positions, surface.triangles).nearest(surface.positions)


def _step(model: Model, settings: SolverSettings, loads: Callable[[Space], tuple[Load, ...]]) -> None:
    """One step of a tiny body whose pins move."""
    space = space_of(model, settings)
    state = space.rest_state()
    acting = (*loads(space), *_matching(space))
    make_solver(space, settings).step(state, state.positions[space.pinned] + 0.01, 0.04, acting)
    # ConJac, and what takes a surface's motion into the body, solve for several right-hand sides.
    factorized(sp.identity(1), fastest()).solve(np.ones((1, 2)))
    # Mixed FEM finishes by Newton's method, which so small a body may not come to.
    space.stiffness(space.elastic.tangent(space.elastic.deformation(state.positions)), 1.0)


def _matching(space: Space) -> tuple[Load, ...]:
    """What nearly all bodies in a subspace have: here it matches nothing."""
    if not space.is_reduced:
        return ()
    mode, rest = np.ones((1, space.unknowns, 3)), space.rest_state().positions
    return (StretchLoad(StretchModes(space.elastic, rest, np.ones(1), mode), np.zeros((1, 1))),)


def _pin_springs(space: Space) -> tuple[Load, ...]:
    """What holds the bodies of nearly all jobs."""
    at = space.mesh.rest_positions[:1]
    return (Springs(space.points(embed(at, space.mesh)), np.ones(1), at),)


def _contact_loads(surface: SurfaceMesh, space: Space) -> tuple[Load, ...]:
    """A body on a ground, in a mesh that moves."""
    collider = ColliderSurface("", surface.triangles, surface.positions[None])
    poses = (ColliderPose.of(collider, surface.positions + shift) for shift in (0.0, 0.1))
    obstacles = GroundPlane(0.1), MeshCollider(collider, *poses, 0.0, 0.0)
    numbers = ContactNumbers.fitting(1e3, space.size, EARTH, 0.04)
    points = ContactPoints.of(surface, space.mesh, np.full(len(space.mesh.tets), 1e5), space.points)
    return tuple(Contact(points, obstacle, 0.5, numbers, 0.04) for obstacle in obstacles)


def warm_up(on_event: OnEvent) -> None:
    """Compile what is not compiled yet, saying so by ``phase`` events; returns at once when all of it is on the
    disk.
    """
    if jit.is_compiled():
        return
    total = 6 + len(ENERGIES) + len(SOLVER_KINDS)
    on_event(Phase("compile", 0, total))
    for done, (_name, stage) in enumerate(_stages(), start=1):
        stage()
        on_event(Phase("compile", done, total))
    jit.mark_compiled()
