"""Scene files in TOML: bodies with materials, pins, solvers and surroundings, without Blender.

    mesh = "bear.obj"                 # .obj, .stl, .ply, .npz with positions and triangles, or a format of meshio
    frames = [1, 60]
    frame_rate = 24
    pre_roll = 10                     # number of first frames that are simulated but not written; 0 by default

    [resolution]                      # fields of ResolutionSettings
    cells_across = 20

    [solver]                          # fields of SolverSettings
    solver = "mixed_fem"

    [[material]]                      # fields of MaterialSettings, and the region of the material:
    name = "flesh"
    youngs_modulus = 5e4

    [[material]]
    name = "bone"
    youngs_modulus = 1e9
    box = [[-1, -1, 0], [1, 1, 2]]    # the surface vertices in a box, or
    # vertices = [0, 1, 2]            # these surface vertices, or
    # region = "bone.obj"             # the inside of a closed surface, on top of painted materials
    # depth = { kind = "shell", depth = 0.01 }    # or by depth below the surface: fields of DepthSettings
    # painted_modulus = 1e10          # Young's modulus where stiffness_map is 1, Pa
    # stiffness_map = [0, 0.5, 1]     # a number from 0 to 1 per vertex of the surface

    [[muscle]]                        # fibres in a material; fields of MuscleSettings
    material = "flesh"                # the name of the material
    # preset = "Biceps"               # a muscle preset; the fields given here override its values
    activation = [[1, 0], [20, 1]]    # 0 to 1, by frame or one number
    origin = { vertices = [0, 1] }    # the ends between which the fibres run, by vertices or box, or
    insertion = { vertices = [8, 9] }
    # curves = [[[0, 0, 0, 0.1], [0, 0, 1, 0.1]]]   # points x, y, z, radius; the material is inside
    # map = [0, 0.5, 1]               # factor on the activation, 0 to 1 per vertex of the surface

    [[pins]]
    box = [[-1, -1, -1], [1, 1, 0]]   # or: vertices = [0, 1, 2]
    motion = [[1, 0, 0, 0], [30, 0.5, 0, 0]]   # frame and displacement, linear between; default: at rest
    release = 40                      # first frame without these pins; default: never

    [[region]]                        # a closed surface that moves everything inside it
    mesh = "bone.obj"
    motion = [[1, 0, 0, 0], [30, 0.5, 0, 0]]
    held = [[19, 1], [20, 0]]         # it holds at 0.5 and above; by frame, or one number; default: always

    [nodes]                           # dynamic nodes: vertices that the ConJac solvers integrate in time
    vertices = [3, 12, 40]            # or box

    [[spring]]                        # vertices (box or vertices) pulled to their rest positions plus motion
    name = "hook"
    vertices = [7, 8]
    motion = [[1, 0, 0, 0], [30, 0, 0, 1]]
    stiffness = [[1, 200], [20, 0]]   # total stiffness, N/m, by frame, or one number

    [[tie]]                           # what holds the body to another one where the two are near; fields of Tie
    other = "right"                   # name of that body or collider
    kind = "glue"                     # or "slide"
    # box, vertices or weights        # where on this body's surface; default: everywhere
    strength = [[1, 1], [20, 0]]      # factor on its stiffness, by frame, or one number

    [[joint]]                         # joint of a rigid body (method = "rigid") with another one; fields of Joint
    other = "upper arm"               # name of that body or collider; default: the world
    kind = "hinge"                    # or "ball", "weld"
    position = [0, 0, 1]              # at rest, m
    axis = [0, 1, 0]
    limits = [0, 2.4]                 # smallest and largest angle, rad; default: none
    stiffness = 5                     # of a spring that turns it to the target, N m/rad
    target = [[1, 0], [20, 1.2]]      # its angle, rad, by frame, or one number; of a ball [[1, 0, 0, 0], ...]
    # twist = [-0.5, 0.5]             # smallest and largest twist of a ball about its axis, rad; default: none
    strength = [[1, 1], [30, 0]]      # factor on its stiffness, by frame, or one number

    [seams]                           # a surface that is split into closed pieces beforehand; fields of Seams
    pieces = [0, 0, 1, 1]             # the piece of each vertex, from 0
    seam_faces = [false, true]        # true for faces between pieces, per face
    cut_frames = [inf, 12, 12, inf]   # frame in which the seam is cut at each vertex; default: never
    tear_stress = [inf, 1e4, 1e4, inf]   # strength of the seam at each vertex, Pa; default: it never tears

    [chamber]                         # pressure in cavities, or inside; fields of Chamber
    pressure = [[1, 0], [20, 3000]]   # Pa above that of the air, by frame, or one number
    # box or vertices                 # all vertices around the one chamber; default: every cavity
    # shared = "Tyre"                 # name of a chamber that several bodies enclose together

    [goal]                            # vertices pulled to their rest positions plus motion
    weights = [0, 0.5, 1]             # 0 to 1 per surface vertex; or box or vertices, with weights of 1
    motion = [[1, 0, 0, 0], [30, 0, 0, 1]]
    strength = [[1, 1], [20, 0]]      # in units of the softest modulus times the body's size; by frame, or one number

    [[vibration]]                     # change of the stiffness of one of the body's lowest vibrations
    number = 1                        # 1 is the lowest; default: k in the k-th table [[vibration]]
    stiffness = [[1, 1], [30, 0.2]]   # factor on its stiffness, 0.1 to 10, by frame or one number

    [ground]                          # a level floor, the first of the colliders; fields of Ground
    height = -1
    friction = 0.5

    [contact]                         # fields of ContactSettings: contact with other bodies and self-contact
    self_contact = true
    only = ["left"]                   # names of the bodies to collide with; default: all
    friction = 0.5

    [[contact.pairs]]                 # other values for contact with one other body or collider
    other = "right"                   # name of that body or collider
    friction = 0.1                    # and thickness: fields of PairSettings

    [[collider]]                      # a surface that the body collides with
    mesh = "stairs.obj"
    motion = [[1, 0, 0, 0], [30, 0, 0, 1]]
    friction = 0.3                    # and thickness: fields of ColliderSettings
    absorption = 0.8                  # fraction by which it weakens fields with use_absorption; by frame or one number

    [[field]]                         # an acceleration besides gravity, m/s²; several add up
    acceleration = [[1, 0, 0, 0], [30, 5, 0, 0]]   # by frame, or one vector
    box = [[0, 0, 0], [1, 1, 1]]      # or vertices; default: the whole body

    [[force_field]]                   # as in Blender, with its names; numbers and vectors may be keyframed
    type = "WIND"                     # or FORCE, VORTEX, MAGNET, HARMONIC, DRAG; CHARGE (give strength times charge)
    strength = [[1, 0], [20, 8]]      # m/s² in a wind
    # linear_drag, quadratic_drag     # for DRAG, instead of strength
    # harmonic_damping, rest_length   # for HARMONIC, in addition to strength
    # use_gravity_falloff             # for FORCE: true or false
    flow = 1
    noise = 2
    seed = 1                          # whole number that selects the noise
    location = [0, 0, 0]
    axis = [1, 0, 0]                  # direction of the field's z axis
    shape = "PLANE"                   # or POINT, LINE; SURFACE, POINTS with mesh = "sheet.obj" around the location
    z_direction = "BOTH"              # or POSITIVE, NEGATIVE
    falloff_type = "TUBE"             # or SPHERE, CONE (radial numbers in degrees)
    falloff_power = 1                 # and distance_min, distance_max, radial_falloff, radial_min, radial_max
    weight = 0.5                      # factor on the strength
    use_absorption = true             # true if colliders with absorption reduce it

Several bodies are tables with names. Entries outside these tables are the defaults of every body:

    [[body]]
    name = "left"
    mesh = "left.obj"

    [[body.material]]
    youngs_modulus = 1e4

    [[body]]
    name = "right"
    mesh = "right.obj"

Paths are relative to the scene file; lengths are in metres.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...foundation.errors import SettingsError, named
from ...foundation.files.array_file import open_regular
from ...foundation.files.file_names import check_names
from ...foundation.files.text_file import text_of
from ...foundation.schema.declared_types import checked
from ...foundation.schema.settings import (
    ContactSettings,
    DepthSettings,
    MaterialSettings,
    ResolutionSettings,
    SolverSettings,
)
from ...mechanics.materials.layer import Layer
from ..job.body import MOST_CONTROLLED, Body
from ..job.job import LAST_FRAME, Job
from ..job.pair import PairSettings
from ..job.seams import Seams
from .scene_force_fields import read_force_fields
from .scene_muscles import read_muscles
from .scene_surroundings import (
    read_chamber,
    read_colliders,
    read_fields,
    read_goal,
    read_joints,
    read_regions,
    read_springs,
    read_ties,
)
from .scene_values import STILL, WHERE, Reading, Table, check_file_name, check_keys, names_of, settings_of, tables_of
from .surface_file import read_surface

_CLOCK = ("frames", "frame_rate", "pre_roll")
_TABLES = ("resolution", "solver", "ground", "nodes", "contact", "goal", "chamber", "seams")
_LISTS = (
    "material",
    "muscle",
    "pins",
    "region",
    "spring",
    "tie",
    "joint",
    "collider",
    "field",
    "force_field",
    "vibration",
)
_FILES = {"material": "region", "region": "mesh", "collider": "mesh", "force_field": "mesh"}
"""Entries that hold a file name: ``region`` in each table ``[[material]]``, and ``mesh`` in the other lists."""


@checked(SettingsError)
def read_scene(path: Path | str) -> Job:
    """Return the job that a scene file describes. Raises SettingsError or MeshError if the file has errors."""
    path = Path(path)
    scene = _read_tables(path)
    start, end = _frames(scene.get("frames", [1, 60]))
    rate, frames = _frame_rate(scene.get("frame_rate", 24.0)), np.arange(start, end + 1)
    bodies = []
    for each in _of_bodies(scene):
        with named(each["name"], "body" in scene):
            bodies.append(_body(each, path.parent, frames))
    _check_pairs(bodies)
    pre_roll = scene.get("pre_roll", 0)
    return Job(bodies=tuple(bodies), frame_start=start, frame_end=end, frame_rate=rate, pre_roll=pre_roll)


def _of_bodies(scene: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the table of entries per body, with entries of the whole scene as defaults."""
    common = {name: value for name, value in scene.items() if name not in (*_CLOCK, "body")}
    return [{"name": "", **common, **each} for each in scene.get("body", [{}])]


def _body(scene: dict[str, Any], folder: Path, frames: np.ndarray) -> Body:
    reading = Reading(folder, read_surface(folder / scene["mesh"]), frames)
    colliders, absorbers = read_colliders(scene, reading)
    return Body(
        name=scene["name"],
        surface=reading.surface,
        resolution=settings_of(ResolutionSettings, scene.get("resolution", {}), "resolution"),
        solver=settings_of(SolverSettings, scene.get("solver", {}), "solver"),
        **(matter := _materials({"material": [{}]} | scene, reading)),
        muscles=read_muscles(scene, reading, matter["materials"]),
        **_pins(scene, reading),
        regions=read_regions(scene, reading),
        dynamic_nodes=Table(scene["nodes"], "nodes", reading, WHERE).chosen() if "nodes" in scene else (),
        goal=read_goal(scene, reading),
        springs=read_springs(scene, reading),
        ties=read_ties(scene, reading),
        joints=read_joints(scene, reading),
        chamber=read_chamber(scene, reading),
        seams=settings_of(Seams, scene["seams"], "seams") if "seams" in scene else None,
        colliders=colliders,
        **_contact(dict(scene.get("contact", {}))),
        accelerations=read_fields(scene, reading),
        force_fields=read_force_fields(scene, reading, len(absorbers)),
        absorbers=absorbers,
        vibration_stiffness=_vibrations(scene, reading),
    )


def _contact(table: dict[str, Any]) -> dict[str, Any]:
    only = table.pop("only", None)
    if only is not None and not (isinstance(only, list) and all(isinstance(name, str) for name in only)):
        raise SettingsError("“only” under contact is not a list of names.", 'Write only = ["NAME"].')
    tables = table.pop("pairs", [])
    _check_lists({"contact.pairs": tables}, ["contact.pairs"])
    return {
        "pairs": tuple(settings_of(PairSettings, {"other": ""} | each, "contact.pairs") for each in tables),
        "contact": settings_of(ContactSettings, table, "contact"),
        "contact_with": None if only is None else tuple(only),
    }


def _check_pairs(bodies: Sequence[Body]) -> None:
    """Raise SettingsError if a contact pair names neither another body nor a collider of its body."""
    for body in bodies:
        there = {each.name for each in (*bodies, *body.colliders)}
        for pair in (pair for pair in body.pairs if pair.other not in there):
            raise SettingsError(
                f"{f'“{body.name}”: ' if body.name else ''}contact.pairs names “{pair.other}”, which does not exist.",
                "Name another body, one of the body's colliders, or Ground.",
            )


def scene_inputs(path: Path | str) -> list[Path]:
    """Return the paths of a scene file and of the mesh files that the scene file names.

    Raises SettingsError if the scene file has errors.
    """
    path = Path(path)
    names = (name for each in _of_bodies(_read_tables(path)) for name in _file_names(each))
    return [path, *(path.parent / name for name in names)]


def _file_names(scene: dict[str, Any]) -> Iterator[str]:
    yield scene["mesh"]
    for kind, entry in _FILES.items():
        for k, table in enumerate(scene.get(kind, [])):
            if entry in table:
                check_file_name(table[entry], f"The {entry} of {kind} {k + 1}")
                yield table[entry]


def _read_tables(path: Path) -> dict[str, Any]:
    """Return the entries of a scene file by name, after a check of their names and types."""
    try:
        open_regular(path).close()  # a pipe could block forever
        scene = tomllib.loads("\n".join(re.split("\r\n?|\n", text_of(path.read_bytes()))))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name} is not UTF-8 text ({error}).", "Save it as UTF-8.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"{str(path.name or path):.80} cannot be read ({error!s:.300}).",
            "Check the path, and the TOML syntax of the file.",
        ) from error
    check_keys(scene, {"mesh", "body", *_CLOCK, *_TABLES, *_LISTS}, "the scene")
    _check_lists(scene, ["body"])
    for k, table in enumerate(scene.get("body", [])):
        check_keys(table, {"name", "mesh", *_TABLES, *_LISTS}, f"body {k + 1}")
        if not isinstance(table.get("name"), str):
            raise SettingsError(f"Body {k + 1} has no name.", 'Give it one: name = "NAME".')
    check_names([table["name"] for table in scene.get("body", [])])
    for each in _of_bodies(scene):
        with named(each["name"], "body" in scene):
            _check_body(each)
    return scene


def _check_body(scene: dict[str, Any]) -> None:
    if "mesh" not in scene:
        raise SettingsError("The scene has no mesh.", 'Add a line mesh = "FILE".')
    check_file_name(scene["mesh"], "mesh")
    for name in _TABLES:
        if not isinstance(scene.get(name, {}), dict):
            raise SettingsError(f"{name} is not a table.", f"Write [{name}] in single brackets above its entries.")
    _check_lists(scene, _LISTS)


def _check_lists(scene: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        tables = scene.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise SettingsError(
                f"{name} is not a list of tables.", f"Write [[{name}]] in double brackets above each table."
            )


def _frames(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(frame) is int for frame in value):
        raise SettingsError(f"frames is {value!r}.", "Give frames = [FIRST, LAST], two whole numbers.")
    if max(abs(frame) for frame in value) > LAST_FRAME:
        raise SettingsError(f"frames is {value!r}.", f"Use frame numbers from {-LAST_FRAME} to {LAST_FRAME}.")
    if value[1] < value[0]:
        raise SettingsError(f"The frame range {value[0]}-{value[1]} is empty.", "Give the lower frame number first.")
    return value[0], value[1]


def _frame_rate(value: Any) -> float:
    if type(value) not in (int, float) or not 0.0 < value < 1e6:
        raise SettingsError(f"frame_rate is {value!r}.", "Give a positive number of frames per second, such as 24.")
    return float(value)


def _materials(scene: dict[str, Any], body: Reading) -> dict[str, Any]:
    """Return the fields of :class:`Body` that the ``[[material]]`` tables set."""
    weights, maps = np.zeros((2, len(body.surface.positions), len(scene["material"])))
    materials, layers = [], []
    known = names_of(MaterialSettings) | WHERE | {"region", "depth", "stiffness_map"}
    for k, table in enumerate(tables_of(scene, "material", body, known)):
        materials.append(MaterialSettings(**table.given(MaterialSettings)))
        if WHERE & table.entries.keys():
            there = table.chosen()
            weights[there] = 0.0
            weights[there, k] = 1.0
        if "stiffness_map" in table:
            maps[:, k] = table.map("stiffness_map")
        if "region" in table or "depth" in table:
            surfaces = (table.surface("region"),) if "region" in table else ()
            depth = table.settings("depth", DepthSettings, '{ kind = "shell" }') if "depth" in table else None
            layers.append(Layer(k, surfaces, depth))
    return {
        "materials": tuple(materials),
        "material_weights": weights,
        "stiffness_maps": maps,
        "layers": tuple(layers),
    }


def _pins(scene: dict[str, Any], body: Reading) -> dict[str, np.ndarray]:
    """Return the fields of :class:`Body` that the ``[[pins]]`` tables set. Later tables override earlier tables."""
    frames, motion_of = body.frames, {}
    for table in tables_of(scene, "pins", body, WHERE | {"motion", "release"}):
        release = table.whole("release", int(frames[-1]) + 1, "Give a frame number.")
        each = table.keyed("motion", STILL, 3), frames < release
        motion_of |= dict.fromkeys(table.chosen().tolist(), each)
    pinned = np.array(sorted(motion_of), dtype=np.int32)
    positions, held = np.empty((len(frames), len(pinned), 3)), np.empty((len(frames), len(pinned)), dtype=bool)
    for p, vertex in enumerate(pinned.tolist()):
        motion, held[:, p] = motion_of[vertex]
        positions[:, p] = body.surface.positions[vertex] + motion
    return {"pinned_vertices": pinned, "pin_positions": positions, "pin_held": held}


def _vibrations(scene: dict[str, Any], body: Reading) -> np.ndarray | None:
    """Return the factors (frames,k) on the stiffness of a body's k lowest vibrations, or None without such tables."""
    factors, most = np.ones((len(body.frames), MOST_CONTROLLED)), 0
    for k, table in enumerate(tables_of(scene, "vibration", body, {"number", "stiffness"})):
        number = table.whole("number", k + 1, f"Give a whole number from 1 to {MOST_CONTROLLED}.", 1, MOST_CONTROLLED)
        factors[:, number - 1], most = table.keyed("stiffness"), max(most, number)
    return factors[:, :most] if most else None
