"""A scene in TOML: a body, its materials, its pins and a solver, without Blender.

    mesh = "bear.obj"                 # .obj, .stl, .ply, .npz with positions and triangles, or what meshio reads
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
    # region = "bone.obj"             # the inside of a closed surface, over what is painted
    # depth = { kind = "shell", depth = 0.01 }    # or by depth below the surface: fields of DepthSettings
    # painted_modulus = 1e10          # its stiffness where its map is 1, and
    # stiffness_map = [0, 0.5, 1]     # that map: a number for each vertex of the surface

    [[pins]]
    box = [[-1, -1, -1], [1, 1, 0]]   # or: vertices = [0, 1, 2]
    motion = [[1, 0, 0, 0], [30, 0.5, 0, 0]]   # frame and displacement, linear between; none holds still
    release = 40                      # from this frame on they are not held; none holds to the end

    [[spring]]                        # vertices (box or vertices) that are pulled to where they were at rest, moved by:
    name = "hook"
    vertices = [7, 8]
    motion = [[1, 0, 0, 0], [30, 0, 0, 1]]
    stiffness = [[1, 200], [20, 0]]   # N/m of all together, by frame, or one number

    [ground]                          # a level floor; fields of Ground
    height = -1
    friction = 0.5

    [[collider]]                      # a surface that the body runs into
    mesh = "stairs.obj"
    motion = [[1, 0, 0, 0], [30, 0, 0, 1]]
    friction = 0.3                    # and thickness: fields of ContactSettings
    absorption = 0.8                  # what it takes from fields with use_absorption behind it, by frame or one number

    [[field]]                         # an acceleration beside gravity, m/s²; several add up
    acceleration = [[1, 0, 0, 0], [30, 5, 0, 0]]   # by frame, or one vector
    box = [[0, 0, 0], [1, 1, 1]]      # or vertices; none acts everywhere

    [[force_field]]                   # one of Blender's, by its names; numbers, location and axis may be keyed by frame
    type = "WIND"                     # or FORCE, VORTEX, MAGNET, HARMONIC, CHARGE (strength times charge), DRAG
    strength = [[1, 0], [20, 8]]      # m/s² in a wind; DRAG: linear_drag, quadratic_drag; HARMONIC: harmonic_damping,
    flow = 1                          #   rest_length besides; FORCE: use_gravity_falloff
    noise = 2                         # and seed
    location = [0, 0, 0]
    axis = [1, 0, 0]                  # its z axis
    shape = "PLANE"                   # or POINT, LINE; SURFACE, POINTS with mesh = "sheet.obj" around the location
    z_direction = "BOTH"              # or POSITIVE, NEGATIVE
    falloff_type = "TUBE"             # or SPHERE, CONE (radial numbers in degrees)
    falloff_power = 1                 # and distance_min, distance_max, radial_falloff, radial_min, radial_max
    weight = 0.5                      # the part of it that acts
    use_absorption = true             # whether colliders with an absorption take from it

Paths are relative to the file; lengths in metres.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SettingsError
from ..materials.layer import Layer
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import DepthSettings, MaterialSettings, ResolutionSettings, SolverSettings
from .job import Job
from .scene_force_fields import force_field_meshes, read_force_fields
from .scene_surroundings import LISTS, read_absorbers, read_colliders, read_fields, read_ground, read_springs
from .scene_values import WHERE, check_file_name, check_keys, chosen, keyed, numbers, settings_of
from .surface_file import read_surface

LAST_FRAME = 1048574  # Blender's
_KEYS = {"mesh", "frames", "frame_rate", "resolution", "solver", "material", "pins", "ground", *LISTS}


def read_scene(path: Path | str) -> Job:
    """The job that a scene file describes; SettingsError or MeshError name what is wrong in it."""
    path = Path(path)
    scene = _read_tables(path)
    surface = read_surface(path.parent / scene["mesh"])
    start, end = _frames(scene.get("frames", [1, 60]))
    materials, weights, maps, layers = _materials(scene.get("material", [{}]), surface, path.parent)
    frames = np.arange(start, end + 1)
    colliders = read_colliders(scene.get("collider", []), path.parent, frames)
    absorbers = read_absorbers(scene.get("collider", []), colliders, frames)
    pinned, positions, held = _pins(scene.get("pins", []), surface, frames)
    return Job(
        surface=surface,
        materials=materials,
        material_weights=weights,
        pinned_vertices=pinned,
        pin_positions=positions,
        frame_start=start,
        frame_end=end,
        frame_rate=_frame_rate(scene.get("frame_rate", 24.0)),
        layers=layers,
        resolution=settings_of(ResolutionSettings, scene.get("resolution", {}), "resolution"),
        solver=settings_of(SolverSettings, scene.get("solver", {}), "solver"),
        springs=read_springs(scene.get("spring", []), surface, frames),
        colliders=colliders,
        ground=read_ground(scene.get("ground")),
        pin_held=held,
        accelerations=read_fields(scene.get("field", []), surface, frames),
        stiffness_maps=maps,
        force_fields=read_force_fields(scene.get("force_field", []), path.parent, frames, len(absorbers)),
        absorbers=absorbers,
    )


def scene_inputs(path: Path | str) -> list[Path]:
    """The files that a scene is read from: itself and the meshes that it names; SettingsError as :func:`read_scene`."""
    path = Path(path)
    scene = _read_tables(path)
    regions = [table["region"] for table in scene.get("material", []) if "region" in table]
    colliders = [table["mesh"] for table in scene.get("collider", [])]
    sheets = force_field_meshes(scene.get("force_field", []))
    return [path, *(path.parent / name for name in (scene["mesh"], *regions, *colliders, *sheets))]


def _read_tables(path: Path) -> dict[str, Any]:
    """The TOML of a scene, its entries known and its tables and file names of the right kind."""
    try:
        scene = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name} is no UTF-8 text ({error}).", "Save it as UTF-8.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path.name or path} cannot be read ({error}).", "Check its path and its TOML.") from error
    check_keys(scene, _KEYS, "the scene")
    if "mesh" not in scene:
        raise SettingsError("The scene names no mesh.", 'Add a line mesh = "FILE".')
    for name in ("resolution", "solver", "ground"):
        if not isinstance(scene.get(name, {}), dict):
            raise SettingsError(f"{name} is no table.", f"Write [{name}], once, in single brackets.")
    for name in ("material", "pins", *LISTS):
        tables = scene.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise SettingsError(f"{name} is no list of tables.", f"Write [[{name}]], in double brackets.")
    check_file_name(scene["mesh"], "mesh")
    for k, table in enumerate(scene.get("material", [])):
        if "region" in table:
            check_file_name(table["region"], f"The region of material {k + 1}")
        if not isinstance(table.get("depth", {}), dict):
            raise SettingsError(f"The depth of material {k + 1} is no table.", 'Write depth = { kind = "shell" }.')
    for k, table in enumerate(scene.get("collider", [])):
        check_file_name(table.get("mesh"), f"The mesh of collider {k + 1}")
    force_field_meshes(scene.get("force_field", []))
    return scene


def _frames(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(frame) is int for frame in value):
        raise SettingsError(f"frames is {value!r}.", "Give frames = [FIRST, LAST], two whole numbers.")
    if max(abs(frame) for frame in value) > LAST_FRAME:
        raise SettingsError(f"frames is {value!r}.", f"Stay within {-LAST_FRAME} and {LAST_FRAME}.")
    if value[1] < value[0]:
        raise SettingsError(f"The frame range {value[0]}-{value[1]} is empty.", "Give the first frame first.")
    return value[0], value[1]


def _frame_rate(value: Any) -> float:
    if type(value) not in (int, float) or not 0.0 < value < 1e6:
        raise SettingsError(f"frame_rate is {value!r}.", "Give a positive number of frames a second, such as 24.")
    return float(value)


def _materials(
    tables: list[dict[str, Any]], surface: SurfaceMesh, folder: Path
) -> tuple[tuple[MaterialSettings, ...], np.ndarray, np.ndarray, tuple[Layer, ...]]:
    """Materials, their weights and stiffness maps (n,k), and those that are laid over the others."""
    weights, maps = np.zeros((2, len(surface.positions), len(tables)))
    own = {f.name for f in fields(MaterialSettings)}
    materials, layers = [], []
    for k, table in enumerate(tables):
        where = f"material {k + 1}"
        check_keys(table, own | WHERE | {"region", "depth", "stiffness_map"}, where)
        materials.append(MaterialSettings(**{name: value for name, value in table.items() if name in own}))
        if WHERE & set(table):
            there = chosen(table, surface, where)
            weights[there] = 0.0
            weights[there, k] = 1.0
        if "stiffness_map" in table:
            maps[:, k] = _map(table["stiffness_map"], surface, f"The stiffness map of {where}")
        if "region" in table or "depth" in table:
            surfaces = (read_surface(folder / table["region"]),) if "region" in table else ()
            depth = settings_of(DepthSettings, table["depth"], f"the depth of {where}") if "depth" in table else None
            layers.append(Layer(k, surfaces, depth))
    return tuple(materials), weights, maps, tuple(layers)


def _map(value: Any, surface: SurfaceMesh, what: str) -> np.ndarray:
    count = len(surface.positions)
    remedy = f"Give {count} numbers between 0 and 1, one for each vertex."
    values = numbers(value, what, remedy)
    if values.shape != (count,) or not ((values >= 0.0) & (values <= 1.0)).all():
        raise SettingsError(f"{what} does not fit the mesh.", remedy)
    return values


def _pins(
    tables: list[dict[str, Any]], surface: SurfaceMesh, frames: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pinned vertices (p,), their positions (frames,p,3), whether they are held (frames,p); a later table wins."""
    motion_of: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for k, table in enumerate(tables):
        check_keys(table, WHERE | {"motion", "release"}, f"pins {k + 1}")
        motion = keyed(table.get("motion", [0, 0, 0]), frames, 3, f"The motion of pins {k + 1}")
        release = table.get("release", frames[-1] + 1)
        if isinstance(release, bool) or not isinstance(release, (int, np.integer)):
            raise SettingsError(f"The release of pins {k + 1} is {release!r}.", "Give the number of a frame.")
        for vertex in chosen(table, surface, f"pins {k + 1}"):
            motion_of[int(vertex)] = motion, frames < release
    pinned = np.array(sorted(motion_of), dtype=np.int32)
    positions, held = np.empty((len(frames), len(pinned), 3)), np.empty((len(frames), len(pinned)), dtype=bool)
    for p, vertex in enumerate(pinned):
        motion, held[:, p] = motion_of[int(vertex)]
        positions[:, p] = surface.positions[vertex] + motion
    return pinned, positions, held
