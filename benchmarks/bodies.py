"""Bodies of the benchmarks: boxes of tets built in code, and the papers' bodies from a folder of ``.npz`` files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..core.geometry.mesh.surface_mesh import SurfaceMesh
from ..core.geometry.mesh.tet_mesh import TetMesh
from ..core.geometry.mesh.topology import boundary_triangles
from ..core.methods.model.model import Model, build_model
from ..core.methods.model.state import State

# Kuhn's six tets of a cube, around the diagonal 0-7, corners numbered by bits (x, y, z).
_KUHN = np.array([[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]])

# Five tets of a cube; the one with corners 0, 3, 5 and 6 has twice the volume of the others.
_MIRRORED = np.array([[0, 3, 5, 6], [0, 1, 3, 5], [0, 3, 2, 6], [0, 5, 4, 6], [3, 7, 5, 6]])


def block(cells: tuple[int, int, int], size: tuple[float, float, float]) -> TetMesh:
    """Return a box from the origin, ``cells`` cubes of six tets along each side, ``size`` in metres."""
    nx, ny, nz = (c + 1 for c in cells)
    grid = np.stack(
        np.meshgrid(*(np.linspace(0, s, c + 1) for s, c in zip(size, cells, strict=True)), indexing="ij"), -1
    )
    x, y, z = np.indices(cells).reshape(3, -1)
    offsets = np.array([(k & 1) * ny * nz + (k >> 1 & 1) * nz + (k >> 2 & 1) for k in range(8)])
    tets = ((x * ny + y) * nz + z)[:, None] + offsets
    tets = tets[:, _KUHN].reshape(-1, 4)
    mesh = TetMesh(grid.reshape(-1, 3), tets)
    flipped = mesh.volumes < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return TetMesh(mesh.rest_positions, tets)


def mirrored_block(cells: tuple[int, int, int], size: tuple[float, float, float]) -> TetMesh:
    """Return a box as :func:`block`, of cubes of five tets, mirrored alternately: equally stiff in mirrored directions,
    unlike those of six tets around one diagonal.
    """
    counts = np.array(cells) + 1
    sides = [np.linspace(0.0, length, count) for length, count in zip(size, counts, strict=True)]
    grid = np.stack(np.meshgrid(*sides, indexing="ij"), -1).reshape(-1, 3)
    x, y, z = np.indices(cells).reshape(3, -1)
    odd = (x + y + z) % 2
    corners = np.array(
        [((x + (k & 1 ^ odd)) * counts[1] + y + (k >> 1 & 1)) * counts[2] + z + (k >> 2 & 1) for k in range(8)]
    )
    tets = corners[_MIRRORED].transpose(2, 0, 1).reshape(-1, 4)
    flipped = TetMesh(grid, tets).volumes < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return TetMesh(grid, tets)


def suzanne(size: float, subdivisions: int = 0) -> SurfaceMesh | None:
    """Return Blender's Suzanne with a number of subdivisions; None if Blender cannot be imported."""
    try:
        import bpy
    except ImportError:
        return None
    bpy.ops.mesh.primitive_monkey_add(size=size)
    monkey = bpy.context.object
    monkey.modifiers.new("Subdivision", "SUBSURF").levels = subdivisions
    mesh = monkey.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    mesh.calc_loop_triangles()
    positions = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.vertices.foreach_get("co", positions)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    bpy.data.objects.remove(monkey)
    return SurfaceMesh(positions.reshape(-1, 3).astype(float), triangles.reshape(-1, 3))


def stiff_slabs(mesh: TetMesh, stiff: float, soft: float, slabs: int = 4) -> np.ndarray:
    """Return Young's moduli (m,), Pa: slabs along x, alternately soft and stiff, the first one soft."""
    centres = mesh.rest_positions[mesh.tets].mean(axis=1)[:, 0]
    start, length = mesh.rest_positions[:, 0].min(), np.ptp(mesh.rest_positions[:, 0])
    slab = np.floor(slabs * (centres - start) / length).astype(int)
    return np.where(slab % 2 == 1, stiff, soft)


def held_end(mesh: TetMesh) -> np.ndarray:
    """Return the vertices in the plane of smallest x."""
    x = mesh.rest_positions[:, 0]
    return np.flatnonzero(x < x.min() + 1e-9 * mesh.size)


def hard_starts(X: np.ndarray) -> dict[str, np.ndarray]:
    """Return extreme initial positions: a point, a line, a plane, mirrored, scrambled."""
    centre = X.mean(axis=0)
    rng = np.random.default_rng(1)
    squeezed = {"point": (0, 0, 0), "line": (1, 0, 0), "plane": (1, 1, 0), "mirrored": (1, 1, -1)}
    starts = {name: centre + (X - centre) * np.array(scales, dtype=float) for name, scales in squeezed.items()}
    starts["scrambled"] = rng.uniform(X.min(axis=0), X.max(axis=0), X.shape)
    return starts


def has(data: Path | None, name: str) -> bool:
    """Return True if the folder contains this body."""
    return data is not None and (data / f"{name}.npz").is_file()


def load(data: Path, name: str) -> dict[str, np.ndarray]:
    """Return a body's arrays: ``vertices``, ``tets`` and other recorded ones."""
    with np.load(data / f"{name}.npz", allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def boundary_surface(data: Path, name: str) -> SurfaceMesh:
    """Return the boundary triangles of a shared body."""
    body = load(data, name)
    used, triangles = np.unique(boundary_triangles(body["tets"]), return_inverse=True)
    return SurfaceMesh(body["vertices"][used], triangles.reshape(-1, 3))


def recorded(
    data: Path, name: str, youngs_modulus: float, stiff: float | None = None, moment: str = ""
) -> tuple[Model, State]:
    """Return a body of [MFEM22] in its recorded state, with Poisson's ratio 0.45 and 1000 kg/m³ of the recorded run.

    ``stiff`` is the modulus of its material 1, ``moment`` the name of the state if there are several. Lengths in m,
    moduli in Pa.
    """
    body = load(data, name)
    E = youngs_modulus if stiff is None else np.where(body["material_ids"] == 1, stiff, youngs_modulus)
    model = build_model(TetMesh(body["vertices"], body["tets"]), E, 0.45, 1e3, pinned=body["pinned"])
    ending = f"_{moment}" if moment else ""
    return model, model.state_at(body[f"deformed_positions{ending}"], body[f"deformed_velocities{ending}"])


def bent(model: Model) -> State:
    """Return the initial state of a smooth motion: rest positions, velocities along y up to 2 sizes per second."""
    X = model.mesh.rest_positions
    along = (X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0])
    velocities = np.zeros_like(X)
    velocities[:, 1] = 2.0 * model.mesh.size * along**2
    velocities[model.pinned] = 0.0
    return model.state_at(X, velocities)


def bent_beam(cells: tuple[int, int, int], youngs_modulus: float = 1e6) -> tuple[Model, State]:
    """Return a beam of 4 x 1 x 1 m, held at one end, with the initial state of :func:`bent`."""
    mesh = block(cells, (4.0, 1.0, 1.0))
    model = build_model(mesh, youngs_modulus, 0.45, 1e3, pinned=held_end(mesh))
    return model, bent(model)
