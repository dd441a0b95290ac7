"""Force fields of a scene file, as Blender has them: its names, its words, and what *Add > Force Field* begins with.
``scene_file`` has an example of a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SettingsError
from ..forces.field_formulas import FORMULAS, SAMPLED, WITHOUT_FLOW
from ..forces.field_place import FALLOFFS, SHAPES, Z_DIRECTIONS, FieldForm, FieldNumbers
from ..mesh.surface_mesh import SurfaceMesh
from ..mesh.vertex_normals import vertex_normals
from .force_field import ForceField
from .scene_values import check_file_name, check_keys, keyed
from .surface_file import read_surface

MESHED = ("SURFACE", "POINTS")
"""Shapes that need a mesh."""

_FLAT = ("WIND", "VORTEX")
"""Types that begin as a plane; others as a point."""

_FALLOFF = {
    "falloff_power": "power",
    "distance_min": "distance_min",
    "distance_max": "distance_max",
    "radial_falloff": "radial_power",
    "radial_min": "radial_min",
    "radial_max": "radial_max",
    "noise": "noise",
    "weight": "weight",
}
"""Entries that are numbers of every field, by their names in :class:`FieldNumbers`."""

_OWN = {
    "DRAG": {"linear_drag": "strength", "quadratic_drag": "damping"},
    "HARMONIC": {"strength": "strength", "harmonic_damping": "damping", "rest_length": "rest_length"},
}
"""Those of a type; the other types have a strength."""

_BEGINNINGS = {"linear_drag": 1.0, "quadratic_drag": 1.0, "harmonic_damping": 1.0, "strength": 1.0}
_ABOUT = {"type", "name", "shape", "falloff_type", "z_direction", "location", "axis", "mesh", "seed", "use_absorption"}
_OF_ANY_SIGN = ("strength", "linear_drag", "quadratic_drag", "harmonic_damping", "flow")


def read_force_fields(
    tables: list[dict[str, Any]], folder: Path, frames: np.ndarray, absorbers: int = 0
) -> tuple[ForceField, ...]:
    """The ``[[force_field]]`` tables, in a scene with so many absorbers."""
    each = range(absorbers)
    return tuple(_read(table, folder, frames, each, f"force_field {k + 1}") for k, table in enumerate(tables))


def force_field_meshes(tables: list[dict[str, Any]]) -> list[str]:
    """The files that the tables name."""
    for k, table in enumerate(tables):
        if "mesh" in table:
            check_file_name(table["mesh"], f"The mesh of force_field {k + 1}")
    return [table["mesh"] for table in tables if "mesh" in table]


def _read(table: dict[str, Any], folder: Path, frames: np.ndarray, absorbers: range, where: str) -> ForceField:
    form = _form(table, where)
    entries = _OWN.get(form.kind, {"strength": "strength"}) | _FALLOFF
    if form.kind not in WITHOUT_FLOW:
        entries = entries | {"flow": "flow"}
    own = {"use_gravity_falloff"} if form.kind == "FORCE" else set()
    check_keys(table, _ABOUT | set(entries) | own, f"{where}, a field of the type {form.kind}")
    centres = keyed(table.get("location", [0, 0, 0]), frames, 3, f"The location of {where}")
    vertices, normals, triangles = None, None, None
    if form.shape in MESHED:
        surface = _mesh(table, folder, form.shape, where)
        vertices = surface.positions + centres[:, None]
        if form.shape == "SURFACE":
            triangles = surface.triangles
        else:
            each = vertex_normals(surface.positions, surface.triangles)
            length = np.linalg.norm(each, axis=1, keepdims=True)
            normals = (each / np.where(length > 0.0, length, 1.0))[None]
    elif "mesh" in table:
        raise SettingsError(f"{where} has a mesh and the shape {form.shape}.", f"Set shape to {' or '.join(MESHED)}.")
    return ForceField(
        name=_text(table.get("name", where.rpartition(" ")[2]), where),
        form=form,
        numbers=_numbers(table, form.kind, entries, frames, where),
        centres=centres,
        axes=_axes(table.get("axis", [0, 0, 1]), frames, where),
        seed=_seed(table.get("seed", 1), where),
        vertices=vertices,
        normals=normals,
        triangles=triangles,
        absorbers=tuple(absorbers) if _switch(table, "use_absorption", where) else (),
    )


def _form(table: dict[str, Any], where: str) -> FieldForm:
    kind = table.get("type")
    if kind in SAMPLED:
        raise SettingsError(
            f"{where} has the type {kind}, which only Blender knows.",
            "Bake the .blend with `python -m sinew bake`, or give an acceleration in [[field]].",
        )
    known = {
        "type": (kind, tuple(FORMULAS)),
        "shape": (table.get("shape", "PLANE" if kind in _FLAT else "POINT"), SHAPES),
        "falloff_type": (table.get("falloff_type", "SPHERE"), FALLOFFS),
        "z_direction": (table.get("z_direction", "BOTH"), Z_DIRECTIONS),
    }
    for name, (value, words) in known.items():
        if value is None:
            raise SettingsError(f"{where} has no {name}.", f'Give {name} = "WORD", one of {", ".join(words)}.')
        if value not in words:
            raise SettingsError(f"The {name} of {where} is {value!r:.80}.", f"Choose one of {', '.join(words)}.")
    return FieldForm(*(value for value, _words in known.values()), _switch(table, "use_gravity_falloff", where))


def _switch(table: dict[str, Any], name: str, where: str) -> bool:
    value = table.get(name, False)
    if type(value) is not bool:
        raise SettingsError(f"{name} of {where} is {value!r:.80}.", "Write true or false.")
    return value


def _numbers(table: dict[str, Any], kind: str, entries: dict[str, str], frames: np.ndarray, where: str) -> np.ndarray:
    """(frames,12), in the order of :class:`FieldNumbers`."""
    columns = {name: np.full(len(frames), value) for name, value in FieldNumbers(1.0)._asdict().items()}
    begins = _BEGINNINGS | ({"flow": 1.0} if kind == "WIND" else {})
    for entry, name in entries.items():
        what = f"The {entry} of {where}"
        if entry in table:
            columns[name] = keyed(table[entry], frames, 1, what)[:, 0]
        elif entry in begins:
            columns[name] = np.full(len(frames), begins[entry])
        if entry not in _OF_ANY_SIGN and columns[name].min() < 0.0:
            raise SettingsError(f"{what} is negative.", "Give 0 or more.")
    return np.column_stack([columns[name] for name in FieldNumbers._fields])


def _axes(value: Any, frames: np.ndarray, where: str) -> np.ndarray:
    axes = keyed(value, frames, 3, f"The axis of {where}")
    length = np.linalg.norm(axes, axis=1, keepdims=True)
    if not (length > 0.0).all():
        frame = frames[int(np.argmin(length))]
        raise SettingsError(f"The axis of {where} is zero at frame {frame}.", "Give a direction [x, y, z].")
    return axes / length


def _mesh(table: dict[str, Any], folder: Path, shape: str, where: str) -> SurfaceMesh:
    if "mesh" not in table:
        raise SettingsError(f"{where} has the shape {shape} and no mesh.", 'Give mesh = "FILE", or another shape.')
    return read_surface(folder / table["mesh"])


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise SettingsError(f"The name of {where} is {value!r:.80}, not a text.", 'Write name = "WORD", in quotes.')
    return value


def _seed(value: Any, where: str) -> int:
    if type(value) is not int or value < 0:
        raise SettingsError(f"The seed of {where} is {value!r:.80}.", "Give a whole number, 0 or more.")
    return value
