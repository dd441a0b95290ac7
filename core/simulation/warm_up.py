"""Compile every kernel on tiny problems, at a moment that can be shown; later starts read them from the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from .. import jit
from ..contact.collider_pose import ColliderPose
from ..contact.collider_surface import ColliderSurface
from ..contact.contact_points import ContactPoints
from ..contact.mesh_collider import MeshCollider
from ..contact.obstacle import GroundPlane
from ..contact.penalty import Contact, ContactNumbers
from ..energies import ENERGIES
from ..energies.kinematics import Deformation, Stretch
from ..forces.absorption import AbsorbingSurface
from ..forces.springs import Springs
from ..forces.step_potential import Load
from ..mesh.crossings import crossing_triangles
from ..mesh.embedding import embed
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.surface_search import SurfaceSearch
from ..mesh.tet_mesh import TetMesh
from ..mesh.tetrahedralize import tetrahedralize
from ..mesh.thin_parts import thin_parts
from ..model.model import Model, build_model
from ..model.settings import EARTH, ResolutionSettings, SolverSettings
from ..solvers import SOLVERS, make_solver
from ..solvers.registry import space_of
from ..subspaces.space import Space
from .job import Job


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
    crossing_triangles(*twice)


def _stages() -> Iterator[tuple[str, Callable[[], Any]]]:
    surface = _tetrahedron()
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=2))
    yield "tetrahedra", lambda: _on_surface(surface, mesh)
    F, s, p = np.eye(3)[None].copy(), np.array([[1.0, 1, 1, 0, 0, 0]]), np.ones((1, 2))
    for law in ENERGIES.values():
        yield (
            law.label,
            lambda law=law: (
                law.value(Deformation.of(F), p),
                law.gradient(Deformation.of(F), p),
                law.tangent(Deformation.of(F), p),
                law.stretch_value(Stretch.of(s), p),
                law.stretch_stress(Stretch.of(s), p),
                law.stretch_tangent(Stretch.of(s), p),
            ),
        )
    model = build_model(mesh, 1e5, 0.4, 1e3, pinned=np.array([0]))
    labels = {cls.label: SolverSettings(solver=name, max_iterations=1, modes=2) for name, cls in SOLVERS.items()}
    iterative = SolverSettings(linear_solver="pcg", max_iterations=1)
    for label, settings in {**labels, "Conjugate Gradients": iterative}.items():
        yield label, lambda settings=settings: _step(model, settings, _pin_springs)

    yield "contact", lambda: _step(model, SolverSettings(max_iterations=1), partial(_contact_loads, surface))
    yield "fields", lambda: _search(surface)


def load_kernels(job: Job) -> None:
    """Read from the disk what the steps of a job will run, by a step of a tiny body: its first frame does not wait."""
    surface = _tetrahedron()
    mesh = tetrahedralize(surface, ResolutionSettings(cells_across=2))
    energies = tuple(dict.fromkeys(material.energy for material in job.materials))
    kinds = np.arange(len(mesh.tets), dtype=np.int32) % len(energies)
    model = build_model(mesh, 1e5, 0.4, 1e3, energies=energies, energy_of_tet=kinds, pinned=np.array([0]))
    chosen = job.solver
    settings = SolverSettings(
        solver=chosen.solver,
        integrator=chosen.integrator,
        quadratic_finish=chosen.quadratic_finish,
        linear_solver=chosen.linear_solver,
        modes=2,
        mass_damping=min(chosen.mass_damping, 1.0),
        stiffness_damping=min(chosen.stiffness_damping, 0.01),
    )
    loads = partial(_contact_loads, surface) if job.ground is not None or job.colliders else _pin_springs
    _step(model, settings, loads)
    if any(each.form.shape == "SURFACE" for each in job.force_fields):
        _search(surface)
    if job.absorbers:
        AbsorbingSurface(surface.positions, surface.triangles, 0.5).passed(surface.positions, surface.positions)


def _search(surface: SurfaceMesh) -> None:
    SurfaceSearch(surface.positions, surface.triangles).nearest(surface.positions)


def _step(model: Model, settings: SolverSettings, loads: Callable[[Space], tuple[Load, ...]]) -> None:
    """One step of a tiny body whose pins move."""
    space = space_of(model, settings)
    state = space.rest_state()
    make_solver(space, settings).step(state, state.positions[space.pinned] + 0.01, 0.04, loads(space))


def _pin_springs(space: Space) -> tuple[Load, ...]:
    """What holds the bodies of nearly all jobs."""
    at = space.mesh.rest_positions[:1]
    return (Springs(space.points(embed(at, space.mesh)), np.ones(1), at),)


def _contact_loads(surface: SurfaceMesh, space: Space) -> tuple[Load, ...]:
    """A body on a ground, in a mesh that moves."""
    collider = ColliderSurface("", surface.triangles, surface.positions[None])
    poses = (ColliderPose(collider, surface.positions + shift) for shift in (0.0, 0.1))
    obstacles = GroundPlane(0.1), MeshCollider(collider, *poses, 0.0, 0.0)
    numbers = ContactNumbers.fitting(1e3, space.size, EARTH, 0.04)
    points = ContactPoints.of(surface, space.mesh, np.full(len(space.mesh.tets), 1e5), space.points)
    return tuple(Contact(points, obstacle, 0.5, numbers, 0.04) for obstacle in obstacles)


def warm_up(on_event: Callable[[dict[str, Any]], None]) -> None:
    """Compile what is not compiled yet, saying so by ``phase`` events; returns at once when all of it is on the
    disk.
    """
    if jit.is_compiled():
        return
    total = 4 + len(ENERGIES) + len(SOLVERS)
    on_event({"event": "phase", "phase": "compile", "done": 0, "total": total})
    for done, (_name, stage) in enumerate(_stages(), start=1):
        stage()
        on_event({"event": "phase", "phase": "compile", "done": done, "total": total})
    jit.mark_compiled()
