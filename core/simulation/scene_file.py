"""A scene in TOML: a body, its materials, its pins and a solver, without Blender.

    mesh = "bear.obj"                 # a surface in any format that meshio reads, or .npz with positions and triangles
    frames = [1, 60]
    frame_rate = 24

    [resolution]                      # fields of ResolutionSettings
    cells_across = 20

    [solver]                          # fields of SolverSettings
    solver = "mixed_fem"

    [[material]]                      # fields of MaterialSettings, and where it is:
    name = "flesh"
    youngs_modulus = 5e4

    [[material]]
    name = "bone"
    youngs_modulus = 1e9
    box = [[-1, -1, 0], [1, 1, 2]]    # the surface vertices in a box, or
    # region = "bone.obj"             # the inside of a closed surface

    [[pins]]
    box = [[-1, -1, -1], [1, 1, 0]]   # or: vertices = [0, 1, 2]
    motion = [[1, 0, 0, 0], [30, 0.5, 0, 0]]   # frame and displacement, linear between; none holds still

Paths are relative to the file; lengths in metres.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..errors import MeshError, SettingsError
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import MaterialSettings, ResolutionSettings, SolverSettings
from .job import Job, Region

Settings = TypeVar("Settings", MaterialSettings, ResolutionSettings, SolverSettings)
_KEYS = {"mesh", "frames", "frame_rate", "resolution", "solver", "material", "pins"}


def read_scene(path: Path | str) -> Job:
    """The job that a scene file describes; SettingsError or MeshError name what is wrong in it."""
    path = Path(path)
    try:
        scene = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path.name} cannot be read ({error}).", "Check its path and its TOML.") from error
    _check_keys(scene, _KEYS, "the scene")
    if "mesh" not in scene:
        raise SettingsError("The scene names no mesh.", 'Add a line mesh = "FILE".')
    surface = read_surface(path.parent / scene["mesh"])
    start, end = scene.get("frames", (1, 60))
    materials, weights, regions = _materials(scene.get("material", [{}]), surface, path.parent)
    pinned, positions = _pins(scene.get("pins", []), surface, start, end)
    return Job(
        surface=surface,
        materials=materials,
        material_weights=weights,
        pinned_vertices=pinned,
        pin_positions=positions,
        frame_start=start,
        frame_end=end,
        frame_rate=scene.get("frame_rate", 24.0),
        regions=regions,
        resolution=_settings(ResolutionSettings, scene.get("resolution", {}), "resolution"),
        solver=_settings(SolverSettings, _with_gravity(scene.get("solver", {})), "solver"),
    )


def read_surface(path: Path) -> SurfaceMesh:
    """A surface from ``.npz`` (positions, triangles) or any format that meshio reads; quads are split."""
    if not path.is_file():
        raise MeshError(f"There is no file {path.name}.", "Check the path; it is relative to the scene file.")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as data:
            if not {"positions", "triangles"} <= set(data.files):
                raise MeshError(f"{path.name} lacks the arrays positions and triangles.", "Save both.")
            return SurfaceMesh(data["positions"], data["triangles"])
    try:
        import meshio
    except ImportError as error:
        raise MeshError(f"Reading {path.suffix} needs meshio.", "Install meshio, or give an .npz file.") from error
    try:
        mesh = meshio.read(path)
    except (meshio.ReadError, OSError, ValueError) as error:
        raise MeshError(f"{path.name} cannot be read ({error}).", "Check its format.") from error
    triangles = [mesh.cells_dict[k] for k in ("triangle",) if k in mesh.cells_dict]
    triangles += [
        q for quads in [mesh.cells_dict.get("quad")] if quads is not None for q in (quads[:, :3], quads[:, [0, 2, 3]])
    ]
    points = np.pad(mesh.points, ((0, 0), (0, 3 - mesh.points.shape[1])))
    return SurfaceMesh(points, np.concatenate(triangles) if triangles else np.empty((0, 3)))


def _check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise SettingsError(f"Unknown entry “{unknown[0]}” in {where}.", f"Known are {', '.join(sorted(known))}.")


def _settings(cls: type[Settings], table: dict[str, Any], where: str) -> Settings:
    _check_keys(table, {f.name for f in fields(cls)}, where)
    return cls(**table)


def _with_gravity(table: dict[str, Any]) -> dict[str, Any]:
    return {**table, "gravity": tuple(table["gravity"])} if "gravity" in table else table


def _chosen(table: dict[str, Any], surface: SurfaceMesh, where: str) -> np.ndarray:
    """Surface vertices named by ``box`` or ``vertices``."""
    if "vertices" in table:
        chosen = np.asarray(table["vertices"], dtype=np.int32)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(surface.positions)):
            raise SettingsError(
                f"A vertex in {where} does not exist.", f"The mesh has {len(surface.positions)} vertices."
            )
        return chosen
    box = np.asarray(table.get("box", []), dtype=np.float64)
    if box.shape != (2, 3):
        raise SettingsError(f"{where} names no vertices.", "Give box = [[x, y, z], [x, y, z]] or vertices = [...].")
    return np.flatnonzero(((surface.positions >= box[0]) & (surface.positions <= box[1])).all(axis=1)).astype(np.int32)


def _materials(
    tables: list[dict[str, Any]], surface: SurfaceMesh, folder: Path
) -> tuple[tuple[MaterialSettings, ...], np.ndarray, tuple[Region, ...]]:
    weights = np.zeros((len(surface.positions), len(tables)))
    materials, regions = [], []
    for k, table in enumerate(tables):
        where = {name: table[name] for name in ("box", "vertices") if name in table}
        own = {name: value for name, value in table.items() if name not in ("box", "vertices", "region")}
        materials.append(_settings(MaterialSettings, own, f"material {k + 1}"))
        if where:
            chosen = _chosen(where, surface, f"material {k + 1}")
            weights[chosen] = 0.0
            weights[chosen, k] = 1.0
        if "region" in table:
            regions.append(Region(read_surface(folder / table["region"]), k))
    return tuple(materials), weights, tuple(regions)


def _pins(tables: list[dict[str, Any]], surface: SurfaceMesh, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.arange(start, end + 1)
    motion_of: dict[int, np.ndarray] = {}
    for k, table in enumerate(tables):
        _check_keys(table, {"box", "vertices", "motion"}, f"pins {k + 1}")
        keys = np.asarray(table.get("motion", [[start, 0, 0, 0]]), dtype=np.float64)
        if keys.ndim != 2 or keys.shape[1] != 4 or (np.diff(keys[:, 0]) <= 0).any():
            raise SettingsError(
                f"The motion of pins {k + 1} is no list of [frame, x, y, z].", "Give frames in ascending order."
            )
        motion = np.column_stack([np.interp(numbers, keys[:, 0], keys[:, 1 + i]) for i in range(3)])
        for vertex in _chosen(table, surface, f"pins {k + 1}"):
            motion_of[int(vertex)] = motion
    pinned = np.array(sorted(motion_of), dtype=np.int32)
    positions = np.empty((len(numbers), len(pinned), 3))
    for p, vertex in enumerate(pinned):
        positions[:, p] = surface.positions[vertex] + motion_of[int(vertex)]
    return pinned, positions
