"""Every property says what it is; numbers say what is typical, and in which unit."""

from __future__ import annotations

import re

import bpy
from sinew import operators
from sinew.blender_addon.properties import overlay_properties, preferences, properties

GROUPS = (*properties.CLASSES, overlay_properties.SinewOverlays, preferences.SinewPreferences)
KEPT = {"SinewBake", "SinewVibration", "SinewPickedVertex", "SinewPicks", "SINEW_OT_apply_bake"}
"""Groups of what is remembered and never set: words, but no typical values."""
NO_NUMBER = {"active_material", "active_spring", "active_pair", "active_tie", "active_collider", "active_vibration"}
SHORTEST = 15
UNIT = re.compile(
    r"\bPa\b|kg|N/m|m/s²|1/s|\bm\b|\bs\b|\bJ\b|kPa|degrees|no unit|own unit|\bpart\b|Part of|weight|"
    r"unit beside|unit above"
)
"""A unit, or what the number is a part of."""


def operator_types():
    for cls in operators.CLASSES:
        if not issubclass(cls, bpy.types.Macro):
            room, _, name = cls.bl_idname.partition(".")
            yield cls.__name__, getattr(getattr(bpy.ops, room), name).get_rna_type()


def all_properties():
    owners = [(group.__name__, group.bl_rna) for group in GROUPS] + list(operator_types())
    for owner, rna in owners:
        for prop in rna.properties:
            if prop.identifier not in ("rna_type", "name", "bl_idname"):
                yield owner, prop


def test_every_property_and_every_choice_says_what_it_is():
    silent = []
    for owner, prop in all_properties():
        where = f"{owner}.{prop.identifier}"
        if len(prop.description) < SHORTEST or not prop.name[0].isupper():
            silent.append(f"{where} ({prop.name}): {prop.description!r}")
        if prop.description.endswith("."):
            silent.append(f"{where} ends with a full stop, which Blender adds")
        if prop.type == "ENUM":
            silent += [f"{where}, {item.identifier}" for item in prop.enum_items if len(item.description) < 5]
    assert not silent, "\n".join(silent)


def test_every_number_says_what_is_typical_and_its_unit():
    silent = []
    for owner, prop in all_properties():
        if prop.type not in ("INT", "FLOAT") or owner in KEPT or prop.identifier in NO_NUMBER:
            continue
        where = f"{owner}.{prop.identifier}: {prop.description!r}"
        if not re.search(r"\d", prop.description):
            silent.append(f"no typical value: {where}")
        if prop.type == "FLOAT" and prop.subtype != "FACTOR" and not UNIT.search(prop.description):
            silent.append(f"no unit: {where}")
    assert not silent, "\n".join(silent)


def test_every_operator_says_what_it_does():
    for owner, rna in operator_types():
        cls = next(cls for cls in operators.CLASSES if cls.__name__ == owner)
        said = len(rna.description) >= SHORTEST or hasattr(cls, "description") or "INTERNAL" in cls.bl_options
        assert said, owner
        assert not rna.description.endswith("."), f"{owner} ends with a full stop, which Blender adds"
