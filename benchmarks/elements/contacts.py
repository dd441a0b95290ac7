"""Iterations of Mixed FEM in the scenes of ``bench contact``: bodies of smoothed elements over bodies of plain tets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from ...core.contact.proxy.collision_proxy import collision_proxy
from ...core.foundation.schema.settings import ResolutionSettings
from ...core.geometry.mesh.embedding import Embedding
from ...core.geometry.mesh.surface_mesh import SurfaceMesh
from ...core.geometry.mesh.tet_mesh import TetMesh
from ...core.geometry.mesh.topology import boundary_triangles
from ...core.geometry.tetrahedra.tetrahedralize import tetrahedralize
from ...core.methods.model.model import Model, build_model, elastic_potential
from ...core.simulation.contact_setup.collision_surfaces import CollisionSurface
from ..contact.scenes import SCENES, STEPS
from ..meetings import Scene, watch
from ..pictures import Snapshot, draw
from ..registry import Case, Row, row
from .iterations import MOST_ITERATIONS

CUBES = [name for name in SCENES if name != "hoop"]
"""Scenes whose bodies consist of cubes of six tets. The ball of the other one is in the draft lattice."""
MESHES = {"cubes": CUBES, "clean": CUBES, "lattice": ["hoop", "crusher", "impact", "bars", "mouth", "hairpin"]}
"""Scenes by mesh. Skins of lattices have so many vertices that the others would take half an hour."""

RATIO, DENSITY = 0.4, 1e3
"""Poisson's ratio, and density, kg/m³, of all bodies of the scenes."""

CAP = 300
"""Maximum number of iterations per step, above the most that a step of the scenes takes to converge (138)."""

MARGIN = 0.25
"""Cells by which remeshed bodies are smaller, since skins extend beyond surfaces, which would intersect at rest."""


def cases(data: Path | None) -> Iterator[Case]:
    """Yield one case per scene and mesh."""
    for method, names in MESHES.items():
        for name in names:
            case = f"contact_{name}_{method}"
            yield Case(case, partial(_compared, case, name, method))


def smoothed(plain: Model) -> Model:
    """Return the model with smoothed elements of a model of plain tets."""
    old = plain.elastic
    new = elastic_potential(plain.mesh, old.parameters, old.energies, old.energy_index, smoothed=True)
    return replace(plain, elastic=new)


def remeshed(scene: Scene, method: str) -> Scene:
    """Return a scene of homogeneous bodies with other tets of the same cell size, in contact by the lattice's skins.

    Vertices are pinned if the nearest vertex of the former mesh is pinned.
    """
    bodies, skins = [], []
    for body in scene.bodies:
        old, E = body.mesh, float(body.youngs_modulus[0])
        used, faces = np.unique(boundary_triangles(old.tets), return_inverse=True)
        X, cell = old.rest_positions[used], np.cbrt(6.0 * old.volumes.mean())
        low, high = X.min(axis=0), X.max(axis=0)
        X = low + 0.5 * MARGIN * cell + (1.0 - MARGIN * cell / (high - low)) * (X - low)
        surface, cells = SurfaceMesh(X, faces.reshape(-1, 3)), round(old.size / cell)
        mesh = tetrahedralize(surface, ResolutionSettings(method=method, cells_across=cells))
        nearest = cKDTree(old.rest_positions).query(mesh.rest_positions)[1]
        pinned = np.flatnonzero(np.isin(nearest, body.pinned))
        bodies.append(build_model(mesh, E, RATIO, DENSITY, pinned=pinned))
        if method == "lattice":
            skins.append(_skin(surface, mesh))
    return replace(scene, bodies=bodies, skins=skins)


def _skin(surface: SurfaceMesh, mesh: TetMesh) -> CollisionSurface:
    made = collision_proxy(surface, mesh)
    return CollisionSurface(made.rest, made.faces, Embedding.of_rows(made.carried, mesh.tets))


def _compared(case: str, name: str, method: str) -> Iterable[Row]:
    shots = []
    for words, (h, steps) in STEPS.items():
        taken, unsettled = {}, {}
        scene = SCENES[name](h, steps)
        if name in CUBES and method != "cubes":
            scene = remeshed(scene, method)
        for kind in ("plain", "smoothed"):
            if kind == "smoothed":
                scene = replace(scene, bodies=[smoothed(each) for each in scene.bodies])
            seen = watch(scene, steps, h, "mixed_fem", max_iterations=CAP)
            taken[kind] = int(seen.iterations.sum())
            unsettled[kind] = sum(not report.converged for report in seen.reports)
            what = f"{words}, {kind}"
            yield row(
                case,
                f"{what}: iterations a step, mean and most",
                f"{seen.iterations.mean():.1f} ({max(seen.iterations)})",
            )
            yield row(case, f"{what}: frames with a crossing", seen.crossed, at_most=0)
            bar = unsettled["plain"] if kind == "smoothed" else None
            yield row(case, f"{what}: steps unconverged", unsettled[kind], at_most=bar)
            shots.append(Snapshot(what, seen.states[-1].positions, seen.whole.mesh.tets))
        yield row(case, f"{words}: iterations over plain", taken["smoothed"] / taken["plain"], at_most=MOST_ITERATIONS)
    draw("elements", case, shots)
