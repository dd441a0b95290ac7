"""Springs, colliders, the ground and fields of a scene file; the formats are in ``scene_file``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SettingsError
from ..mesh.surface_mesh import SurfaceMesh
from ..model.settings import ContactSettings, Ground
from .absorber import Absorber
from .scene_values import WHERE, check_keys, chosen, keyed, settings_of
from .surface_file import read_surface
from .surroundings import Collider, Spring

LISTS = ("spring", "collider", "field", "force_field")
STILL = [0, 0, 0]


def read_springs(tables: list[dict[str, Any]], surface: SurfaceMesh, frames: np.ndarray) -> tuple[Spring, ...]:
    """The ``[[spring]]`` tables."""
    springs = []
    for k, table in enumerate(tables):
        where = f"spring {k + 1}"
        check_keys(table, WHERE | {"name", "motion", "stiffness"}, where)
        if "stiffness" not in table:
            raise SettingsError(f"{where} has no stiffness.", "Give stiffness = NUMBER, in N/m.")
        vertices = chosen(table, surface, where)
        motion = keyed(table.get("motion", STILL), frames, 3, f"The motion of {where}")
        springs.append(
            Spring(
                name=str(table.get("name", k + 1)),
                vertices=vertices,
                weights=np.ones(len(vertices)),
                targets=surface.positions[vertices] + motion[:, None],
                stiffness=keyed(table["stiffness"], frames, 1, f"The stiffness of {where}")[:, 0],
            )
        )
    return tuple(springs)


def read_colliders(tables: list[dict[str, Any]], folder: Path, frames: np.ndarray) -> tuple[Collider, ...]:
    """The ``[[collider]]`` tables."""
    colliders = []
    for k, table in enumerate(tables):
        where = f"collider {k + 1}"
        check_keys(table, {"name", "mesh", "motion", "friction", "thickness", "absorption"}, where)
        numbers = {name: table[name] for name in ("friction", "thickness") if name in table}
        contact = settings_of(ContactSettings, numbers, where)
        surface = read_surface(folder / table["mesh"])
        motion = keyed(table.get("motion", STILL), frames, 3, f"The motion of {where}")
        colliders.append(
            Collider(
                name=str(table.get("name", table["mesh"])),
                triangles=surface.triangles,
                positions=surface.positions + motion[:, None],
                friction=contact.friction,
                thickness=contact.thickness,
            )
        )
    return tuple(colliders)


def read_absorbers(
    tables: list[dict[str, Any]], colliders: tuple[Collider, ...], frames: np.ndarray
) -> tuple[Absorber, ...]:
    """Those of the ``[[collider]]`` tables that have an absorption."""
    absorbers = []
    for k, (table, collider) in enumerate(zip(tables, colliders)):
        if "absorption" in table:
            what = f"The absorption of collider {k + 1}"
            absorption = keyed(table["absorption"], frames, 1, what)[:, 0]
            if absorption.min() < 0.0 or absorption.max() > 1.0:
                raise SettingsError(f"{what} is no part.", "Give 0 to 1.")
            absorbers.append(Absorber(collider.name, collider.triangles, collider.positions, absorption))
    return tuple(absorbers)


def read_ground(table: dict[str, Any] | None) -> Ground | None:
    """The ``[ground]`` table."""
    return None if table is None else settings_of(Ground, table, "ground")


def read_fields(tables: list[dict[str, Any]], surface: SurfaceMesh, frames: np.ndarray) -> np.ndarray | None:
    """The ``[[field]]`` tables, added up, (frames,n,3) m/s²; None without any."""
    if not tables:
        return None
    total = np.zeros((len(frames), len(surface.positions), 3))
    for k, table in enumerate(tables):
        where = f"field {k + 1}"
        check_keys(table, WHERE | {"acceleration"}, where)
        vertices = chosen(table, surface, where) if WHERE & set(table) else np.arange(len(surface.positions))
        if "acceleration" not in table:
            raise SettingsError(f"{where} has no acceleration.", "Give acceleration = [x, y, z], in m/s².")
        acceleration = keyed(table["acceleration"], frames, 3, f"The acceleration of {where}")
        total[:, vertices] += acceleration[:, None]
    return total
