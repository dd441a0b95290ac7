"""Names of the settings of a scene's bodies, as in the columns of a wedge table.

solver.substeps, resolution.cells_across    field of SolverSettings, ResolutionSettings
contact.friction                            field of ContactSettings
ground.friction, collider.friction          field of Ground; field of ColliderSettings, of all colliders
Flesh.youngs_modulus                        field of MaterialSettings, of the material "Flesh"
Hand.solver.substeps                        only of the body "Hand"; without it, of all bodies
substeps                                    if only one table or material has such a field
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from ...foundation.errors import SettingsError, named
from ...foundation.schema.settings import (
    ColliderSettings,
    ContactSettings,
    MaterialSettings,
    ResolutionSettings,
    SolverSettings,
)
from ..job.body import Body
from ..job.environment import Collider, Ground
from ..job.job import Job

_MATERIAL = "material"
_CLASSES = {
    "solver": SolverSettings,
    "resolution": ResolutionSettings,
    "contact": ContactSettings,
    "ground": Ground,
    "collider": ColliderSettings,
    _MATERIAL: MaterialSettings,
}
_COLLIDERS = {"ground": Ground, "collider": Collider}


class Target(NamedTuple):
    """Setting of one body.

    ``body``: index of the body. ``where``: the table, or the name of the material. ``table``: a key of ``_CLASSES``.
    ``item``: index of the material, else 0.
    """

    body: int
    where: str
    table: str
    item: int
    field: str


Names = dict[str, list[Target]]


def setting_names(bodies: Iterable[tuple[str, Sequence[str]]]) -> Names:
    """Return the settings that each name stands for. ``bodies``: the name of each body, and those of its materials."""
    found: Names = {}
    for k, (body, materials) in enumerate(bodies):
        groups = [(table, table, 0) for table in _CLASSES if table != _MATERIAL]
        groups += [(name, _MATERIAL, item) for item, name in enumerate(materials)]
        for where, table, item in groups:
            for field in (each.name for each in fields(_CLASSES[table]) if each.name != "name"):
                of_body = [f"{body}.{where}.{field}"] if body else []
                for name in (field, f"{where}.{field}", *of_body):
                    found.setdefault(name, []).append(Target(k, where, table, item, field))
    return found


def targets_of(names: Names, name: str) -> list[Target]:
    """Return the settings that ``name`` stands for. Raises SettingsError for an unknown or ambiguous name."""
    if name not in names:
        close = difflib.get_close_matches(name, names, cutoff=0.5)
        close += [each for each in names if each.endswith(f".{name.rpartition('.')[2]}") and each not in close]
        remedy = f"Close matches: {', '.join(close[:4])}." if close else "Write solver.substeps, for example."
        raise SettingsError("is not a setting of the scene.", remedy)
    tables = dict.fromkeys(target.where for target in names[name])
    if len(tables) > 1:
        full = ", ".join(f"{table}.{name}" for table in tables)
        raise SettingsError("stands for several settings.", f"Write one of {full}.")
    return names[name]


def check_value(target: Target, value: Any) -> None:
    """Raise a SinewError if a setting does not permit the value, whatever the other settings are."""
    named = {"name": target.where} if target.table == _MATERIAL else {}
    _CLASSES[target.table](**named, **{target.field: value})


def names_in(job: Job) -> Names:
    """Return the names of the settings of a job's bodies."""
    return setting_names((body.name, [material.name for material in body.materials]) for body in job.bodies)


def with_settings(job: Job, settings: Mapping[str, Any]) -> Job:
    """Return a copy of the job with other values of some settings, by name. Raises SinewError for a wrong value."""
    names, bodies = names_in(job), list(job.bodies)
    changes: dict[tuple[int, str, int], dict[str, Any]] = {}
    for name, value in settings.items():
        for target in targets_of(names, name):
            changes.setdefault((target.body, target.table, target.item), {})[target.field] = value
    for (k, table, item), changed in changes.items():
        with named(bodies[k].name, len(bodies) > 1):
            bodies[k] = _with_changes(bodies[k], table, item, changed)
    return replace(job, bodies=tuple(bodies))


def _with_changes(body: Body, table: str, item: int, changed: dict[str, Any]) -> Body:
    if table in _COLLIDERS:
        kind = _COLLIDERS[table]
        if not any(isinstance(each, kind) for each in body.colliders):
            raise SettingsError(f"The body has no {table}.", f"Remove {table}.{next(iter(changed))}.")
        colliders = (replace(each, **changed) if isinstance(each, kind) else each for each in body.colliders)
        return replace(body, colliders=tuple(colliders))
    if table != _MATERIAL:
        return replace(body, **{table: replace(getattr(body, table), **changed)})
    material = body.materials[item]
    if body.moduli is not None and {"youngs_modulus", "painted_modulus"} & changed.keys():
        raise SettingsError(f"The stiffness of “{material.name}” is animated.", "Remove its keyframes.")
    materials = (*body.materials[:item], replace(material, **changed), *body.materials[item + 1 :])
    return replace(body, materials=materials)
