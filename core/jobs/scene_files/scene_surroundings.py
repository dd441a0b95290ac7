"""Readers of springs, ties, joints, pressure and other surroundings of a body from tables of a scene file.

``scene_file`` describes the formats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundation.errors import SettingsError
from ...foundation.schema.settings import ColliderSettings
from ...mechanics.constraints.kinematic_region import KinematicRegion
from ..job.absorber import Absorber
from ..job.chamber import Chamber
from ..job.environment import Collider, Ground, Spring
from ..job.joint import Joint
from ..job.tie import Tie
from .scene_values import WHERE, Reading, Table, names_of, settings_of, tables_of


def read_springs(scene: dict[str, Any], body: Reading) -> tuple[Spring, ...]:
    """Return the springs that the ``[[spring]]`` tables describe."""
    springs = []
    for k, table in enumerate(tables_of(scene, "spring", body, WHERE | {"name", "motion", "stiffness"})):
        vertices = table.chosen()
        name, targets = table.text("name", str(k + 1)), table.moved(body.surface.positions[vertices])
        stiffness = table.keyed("stiffness", example="NUMBER, in N/m")
        springs.append(Spring(name, vertices, np.ones(len(vertices)), targets, stiffness))
    return tuple(springs)


def read_ties(scene: dict[str, Any], body: Reading) -> tuple[Tie, ...]:
    """Return the ties that the ``[[tie]]`` tables describe."""
    ties, n = [], len(body.surface.positions)
    for table in tables_of(scene, "tie", body, WHERE | names_of(Tie)):
        weights = table.map("weights") if "weights" in table else None
        if WHERE & table.entries.keys():
            chosen = np.isin(np.arange(n), table.chosen())
            weights = chosen * (np.ones(n) if weights is None else weights)
        arrays = {"weights": weights, "strength": table.keyed("strength", 1.0)}
        numbers = {name: value for name, value in table.given(Tie).items() if name not in arrays}
        ties.append(Tie(**numbers, **arrays))
    return tuple(ties)


def read_joints(scene: dict[str, Any], body: Reading) -> tuple[Joint, ...]:
    """Return the joints that the ``[[joint]]`` tables describe."""
    joints = []
    for table in tables_of(scene, "joint", body, names_of(Joint)):
        target = table.entries.get("target")
        is_vector = isinstance(target, list) and all(isinstance(key, list) and len(key) == 4 for key in target)
        keyed = {"target": table.keyed("target", 0.0, 3 if is_vector else 1), "strength": table.keyed("strength", 1.0)}
        joints.append(Joint(**table.given(Joint) | keyed))
    return tuple(joints)


def read_chamber(scene: dict[str, Any], body: Reading) -> Chamber | None:
    """Return the pressure that the ``[chamber]`` table describes, or None without this table."""
    if "chamber" not in scene:
        return None
    table = Table(scene["chamber"], "chamber", body, WHERE | {"is_gas", "pressure", "shared"})
    vertices = table.chosen() if WHERE & table.entries.keys() else ()
    is_gas = table.switch("is_gas") if "is_gas" in table else True
    pressure = table.keyed("pressure", example="NUMBER, in Pa")
    return Chamber(is_gas, vertices, pressure, table.text("shared", ""))


def read_goal(scene: dict[str, Any], body: Reading) -> Spring | None:
    """Return the springs of ``Body.goal`` that the ``[goal]`` table describes, or None without this table."""
    if "goal" not in scene:
        return None
    table = Table(scene["goal"], "goal", body, WHERE | {"weights", "motion", "strength"})
    weights = table.map("weights") if "weights" in table else np.ones(len(body.surface.positions))
    everywhere = "weights" in table and not WHERE & table.entries.keys()
    vertices = np.arange(len(weights)) if everywhere else table.chosen()
    targets = table.moved(body.surface.positions[vertices])
    return Spring("goal", vertices, weights[vertices], targets, table.keyed("strength", 1.0))


def read_colliders(scene: dict[str, Any], body: Reading) -> tuple[tuple[Ground | Collider, ...], tuple[Absorber, ...]]:
    """Return the colliders of the tables ``[ground]`` and ``[[collider]]``, and their absorbers.

    A collider with an entry ``absorption`` is also an absorber, a surface that weakens force fields.
    """
    colliders = [settings_of(Ground, scene["ground"], "ground")] if "ground" in scene else []
    absorbers = []
    known = names_of(ColliderSettings) | {"name", "mesh", "motion", "absorption"}
    for table in tables_of(scene, "collider", body, known):
        mesh, name = table.surface("mesh"), table.text("name", table.entries["mesh"])
        surface = name, mesh.triangles, table.moved(mesh.positions)
        colliders.append(Collider(*surface, **table.given(ColliderSettings)))
        if "absorption" in table:
            absorption = table.keyed("absorption")
            if absorption.min() < 0.0 or absorption.max() > 1.0:
                raise SettingsError(
                    f"The absorption of {table.where} is outside 0 to 1.", "Give fractions from 0 to 1."
                )
            absorbers.append(Absorber(*surface, absorption))
    return tuple(colliders), tuple(absorbers)


def read_regions(scene: dict[str, Any], body: Reading) -> tuple[KinematicRegion, ...]:
    """Return the kinematic regions of the tables ``[[region]]``."""
    regions = []
    for table in tables_of(scene, "region", body, {"name", "mesh", "motion", "held"}):
        surface, held = table.surface("mesh"), table.keyed("held", 1.0) >= 0.5
        name = table.text("name", table.entries["mesh"])
        regions.append(KinematicRegion(name, surface, table.moved(surface.positions), held))
    return tuple(regions)


def read_fields(scene: dict[str, Any], body: Reading) -> np.ndarray | None:
    """Return the summed accelerations of all ``[[field]]`` tables per surface vertex, (frames,n,3) m/s².

    The result is None without such tables.
    """
    total = np.zeros((len(body.frames), len(body.surface.positions), 3))
    for table in tables_of(scene, "field", body, WHERE | {"acceleration"}):
        where = table.chosen() if WHERE & table.entries.keys() else slice(None)
        total[:, where] += table.keyed("acceleration", size=3, example="[x, y, z], in m/s²")[:, None]
    return total if scene.get("field") else None
