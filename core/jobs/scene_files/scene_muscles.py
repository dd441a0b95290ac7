"""Muscles of scene files: the tables ``[[muscle]]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...foundation.errors import SettingsError
from ...foundation.schema.muscle_settings import MuscleSettings
from ...foundation.schema.settings import MaterialSettings
from ...mechanics.fibres.presets import muscle_preset
from ..job.muscle import FibreCurve, Muscle
from .scene_values import WHERE, Reading, Table, names_of, tables_of


def read_muscles(scene: dict[str, Any], body: Reading, materials: Sequence[MaterialSettings]) -> tuple[Muscle, ...]:
    """Return the muscles of a body.

    Raises SettingsError or MaterialError if a table has errors.
    """
    known = names_of(MuscleSettings) | {"preset", "material", "activation", "origin", "insertion", "curves", "map"}
    names = [material.name for material in materials]
    return tuple(
        Muscle(
            names.index(table.word("material", names)),
            _settings(table),
            table.keyed("activation", 0.0),
            _end(table, "origin", body),
            _end(table, "insertion", body),
            _curves(table),
            table.map("map") if "map" in table else None,
        )
        for table in tables_of(scene, "muscle", body, known)
    )


def _settings(table: Table) -> MuscleSettings:
    """Return the settings of a muscle: its own entries, on top of its preset."""
    own = table.given(MuscleSettings)
    return replace(muscle_preset(table.text("preset", "")), **own) if "preset" in table else MuscleSettings(**own)


def _end(table: Table, name: str, body: Reading) -> np.ndarray:
    """Return the vertices (k,) of the end ``name`` of a muscle."""
    if name not in table:
        return np.zeros(0, dtype=np.int32)
    entries = table.entries[name]
    if not isinstance(entries, dict):
        raise SettingsError(
            f"The {name} of {table.where} is not a table.", f"Write {name} = {{ vertices = [...] }}, or box."
        )
    return Table(entries, f"the {name} of {table.where}", body, WHERE).chosen()


def _curves(table: Table) -> tuple[FibreCurve, ...]:
    remedy = "Give curves = [[[x, y, z, radius], ...], ...]."
    curves = table.entries.get("curves", [])
    try:
        rows = [np.asarray(curve, dtype=np.float64) for curve in curves]
    except (TypeError, ValueError) as error:
        raise SettingsError(f"The curves of {table.where} are not lists of points.", remedy) from error
    if any(each.ndim != 2 or each.shape[1] != 4 or len(each) < 2 for each in rows):
        raise SettingsError(f"A curve of {table.where} does not have two points of four numbers.", remedy)
    return tuple(FibreCurve(each[:, :3], each[:, 3]) for each in rows)
