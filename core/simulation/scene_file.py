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
    # vertices = [0, 1, 2]            # these surface vertices, or
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

from ..errors import SettingsError
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import MaterialSettings, ResolutionSettings, SolverSettings
from .job import Job, Region
from .surface_file import read_surface

Settings = TypeVar("Settings", MaterialSettings, ResolutionSettings, SolverSettings)
LAST_FRAME = 1048574  # Blender's
_KEYS = {"mesh", "frames", "frame_rate", "resolution", "solver", "material", "pins"}
_WHERE = {"box", "vertices"}


def read_scene(path: Path | str) -> Job:
    """The job that a scene file describes; SettingsError or MeshError name what is wrong in it."""
    path = Path(path)
    scene = _read_tables(path)
    surface = read_surface(path.parent / scene["mesh"])
    start, end = _frames(scene.get("frames", [1, 60]))
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
        frame_rate=_frame_rate(scene.get("frame_rate", 24.0)),
        regions=regions,
        resolution=_settings(ResolutionSettings, scene.get("resolution", {}), "resolution"),
        solver=_settings(SolverSettings, scene.get("solver", {}), "solver"),
    )


def scene_inputs(path: Path | str) -> list[Path]:
    """The files that a scene is read from: itself, its mesh, its regions; SettingsError as :func:`read_scene`."""
    path = Path(path)
    scene = _read_tables(path)
    regions = [table["region"] for table in scene.get("material", []) if "region" in table]
    return [path, *(path.parent / name for name in (scene["mesh"], *regions))]


def _read_tables(path: Path) -> dict[str, Any]:
    """The TOML of a scene, its entries known and its tables and file names of the right kind."""
    try:
        scene = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name} is no UTF-8 text ({error}).", "Save it as UTF-8.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path.name or path} cannot be read ({error}).", "Check its path and its TOML.") from error
    _check_keys(scene, _KEYS, "the scene")
    if "mesh" not in scene:
        raise SettingsError("The scene names no mesh.", 'Add a line mesh = "FILE".')
    for name in ("resolution", "solver"):
        if not isinstance(scene.get(name, {}), dict):
            raise SettingsError(f"{name} is no table.", f"Write [{name}], once, in single brackets.")
    for name in ("material", "pins"):
        tables = scene.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise SettingsError(f"{name} is no list of tables.", f"Write [[{name}]], in double brackets.")
    _check_file_name(scene["mesh"], "mesh")
    for k, table in enumerate(scene.get("material", [])):
        if "region" in table:
            _check_file_name(table["region"], f"The region of material {k + 1}")
    return scene


def _check_file_name(value: Any, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise SettingsError(f"{what} is {value!r}, not the name of a file.", 'Write "FILE", in quotes.')


def _check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise SettingsError(f"Unknown entry “{unknown[0]}” in {where}.", f"Known are {', '.join(sorted(known))}.")


def _settings(cls: type[Settings], table: dict[str, Any], where: str) -> Settings:
    _check_keys(table, {f.name for f in fields(cls)}, where)
    return cls(**table)


def _frames(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(frame) is int for frame in value):
        raise SettingsError(f"frames is {value!r}.", "Give frames = [FIRST, LAST], two whole numbers.")
    if max(abs(frame) for frame in value) > LAST_FRAME:
        raise SettingsError(f"frames is {value!r}.", f"Stay within {-LAST_FRAME} and {LAST_FRAME}.")
    return value[0], value[1]


def _frame_rate(value: Any) -> float:
    if type(value) not in (int, float) or not 0.0 < value < 1e6:
        raise SettingsError(f"frame_rate is {value!r}.", "Give a positive number of frames a second, such as 24.")
    return float(value)


def _numbers(value: Any, what: str, remedy: str) -> np.ndarray:
    """A list of numbers, or of lists of equal length, as an array of them; SettingsError for anything else."""
    wrong = SettingsError(f"{what} is {value!r:.80}.", remedy)
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged
        raise wrong from error
    if array.size and array.dtype.kind not in "iuf":
        raise wrong
    return array


def _chosen(table: dict[str, Any], surface: SurfaceMesh, where: str) -> np.ndarray:
    """Surface vertices named by ``box`` or ``vertices``; SettingsError when they are none."""
    X = surface.positions
    remedy = "Give box = [[x, y, z], [x, y, z]] or vertices = [...]."
    if len(_WHERE & set(table)) != 1:
        raise SettingsError(
            f"{where} {'names vertices twice' if _WHERE <= set(table) else 'names no vertices'}.", remedy
        )
    if "vertices" in table:
        chosen = _numbers(table["vertices"], f"vertices of {where}", "Give vertices = [...], whole numbers.")
        if chosen.size == 0 or chosen.ndim != 1 or chosen.dtype.kind == "f":
            raise SettingsError(f"vertices of {where} is {table['vertices']!r:.80}.", "Give a list of whole numbers.")
        if chosen.min() < 0 or chosen.max() >= len(X):
            raise SettingsError(f"A vertex in {where} does not exist.", f"The mesh has {len(X)} vertices.")
        return chosen.astype(np.int32)
    box = _numbers(table["box"], f"box of {where}", "Give box = [[x, y, z], [x, y, z]].")
    if box.shape != (2, 3):
        raise SettingsError(f"{where} names no vertices.", remedy)
    chosen = np.flatnonzero(((X >= box[0]) & (X <= box[1])).all(axis=1)).astype(np.int32)
    if len(chosen) == 0:
        low, high = (np.array2string(corner, precision=4, separator=", ") for corner in (X.min(axis=0), X.max(axis=0)))
        raise SettingsError(
            f"The box of {where} holds no vertex.",
            f"Give the lower corner first; the mesh lies between {low} and {high}.",
        )
    return chosen


def _materials(
    tables: list[dict[str, Any]], surface: SurfaceMesh, folder: Path
) -> tuple[tuple[MaterialSettings, ...], np.ndarray, tuple[Region, ...]]:
    weights = np.zeros((len(surface.positions), len(tables)))
    own = {f.name for f in fields(MaterialSettings)}
    materials, regions = [], []
    for k, table in enumerate(tables):
        _check_keys(table, own | _WHERE | {"region"}, f"material {k + 1}")
        materials.append(MaterialSettings(**{name: value for name, value in table.items() if name in own}))
        if _WHERE & set(table):
            chosen = _chosen(table, surface, f"material {k + 1}")
            weights[chosen] = 0.0
            weights[chosen, k] = 1.0
        if "region" in table:
            regions.append(Region(read_surface(folder / table["region"]), k))
    return tuple(materials), weights, tuple(regions)


def _pins(tables: list[dict[str, Any]], surface: SurfaceMesh, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.arange(start, end + 1)
    motion_of: dict[int, np.ndarray] = {}
    for k, table in enumerate(tables):
        _check_keys(table, _WHERE | {"motion"}, f"pins {k + 1}")
        motion = _motion(table.get("motion", [[start, 0, 0, 0]]), numbers, f"pins {k + 1}")
        for vertex in _chosen(table, surface, f"pins {k + 1}"):
            motion_of[int(vertex)] = motion
    pinned = np.array(sorted(motion_of), dtype=np.int32)
    positions = np.empty((len(numbers), len(pinned), 3))
    for p, vertex in enumerate(pinned):
        positions[:, p] = surface.positions[vertex] + motion_of[int(vertex)]
    return pinned, positions


def _motion(value: Any, numbers: np.ndarray, where: str) -> np.ndarray:
    """Displacements (frames,3) at the numbered frames, metres."""
    wrong = SettingsError(f"The motion of {where} is no list of [frame, x, y, z].", "Give frames in ascending order.")
    keys = _numbers(value, f"The motion of {where}", "Give motion = [[frame, x, y, z], ...].").astype(np.float64)
    if keys.ndim != 2 or keys.shape[1] != 4 or not np.isfinite(keys).all() or (np.diff(keys[:, 0]) <= 0).any():
        raise wrong
    return np.column_stack([np.interp(numbers, keys[:, 0], keys[:, 1 + i]) for i in range(3)])
