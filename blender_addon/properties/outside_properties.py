"""Settings of springs, collisions and vibration control, parts of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

from typing import Any

import bpy
from mathutils import Vector

from ...core.foundation.schema.settings import ContactSettings
from ...core.jobs.job.body import VIBRATION_STIFFNESS
from ...core.jobs.job.environment import Ground
from ...core.jobs.job.pair import PairSettings
from .mirror import ANIMATED, integer, menu, mirrored, number, pointer, switch, text

SPRING_ENDS = (
    (
        "ANIMATION",
        "Own Animation",
        "A soft pin: pull the vertices to where the object's own animation has them",
    ),
    ("OBJECT", "Object", "Pull the vertices along with another object, as if they were fixed to it"),
)


def _is_no_body_itself(self: Any, candidate: Any) -> bool:
    return candidate != self.id_data


class SinewSpring(bpy.types.PropertyGroup):
    """Springs from the vertices of a group to moving targets."""

    vertex_group: text("Vertices", "Vertex group that is pulled; its weights share the strength")
    end: menu("Pull To", "Where the vertices are pulled to", items=SPRING_ENDS)
    target: pointer(
        "Object",
        "The vertices follow it, with their offset at the first frame",
        type=bpy.types.Object,
        poll=_is_no_body_itself,
    )
    strength: number(
        "Strength (N/m)",
        "Force for each metre, N/m, of all vertices together: 100 to 10000 for some kilograms. Key it to 0 to let go",
        options=ANIMATED,
        default=1000.0,
        min=0.0,
        soft_max=1e6,
        precision=1,
        step=1000,
    )
    take: text("Take", "Name under which recording in Live made the spring; empty otherwise")


def _put_ground_below(self: Any, context: Any) -> None:
    """Lower the ground below the body when it is enabled: Blender centers new meshes at the origin."""
    obj = self.id_data
    lowest = min((obj.matrix_world @ Vector(corner)).z for corner in obj.bound_box)
    if self.use_ground and lowest < self.height:
        self.height = lowest - self.thickness


class SinewCollisions(bpy.types.PropertyGroup):
    """Contact of the body: colliders, ground, other bodies and self-contact."""

    contact_bodies: mirrored(ContactSettings, "bodies", "Soft Bodies")
    self_contact: mirrored(ContactSettings, "self_contact", "Self")
    grow_apart: mirrored(ContactSettings, "grow_apart", "Grow Apart")
    contact_collection: pointer(
        "Bodies",
        "Collide only with bodies of this collection; empty: with all that allow it",
        type=bpy.types.Collection,
    )
    contact_friction: mirrored(ContactSettings, "friction", "Friction", soft_max=1.0, precision=2)
    contact_thickness: mirrored(ContactSettings, "thickness", "Contact Distance", unit="LENGTH", precision=4)

    use_ground: switch("Ground", "A level floor that the body falls onto", update=_put_ground_below)
    height: mirrored(Ground, "height", "Height", unit="LENGTH")
    friction: mirrored(Ground, "friction", "Friction", soft_max=1.0, precision=2)
    collection: pointer(
        "Colliders",
        "Collide with all meshes of this collection, still or animated, except the body itself",
        type=bpy.types.Collection,
    )
    collider_friction: mirrored(Ground, "friction", "Collider Friction", soft_max=1.0, precision=2)
    thickness: mirrored(Ground, "thickness", "Contact Distance", unit="LENGTH", precision=4)
    active_collider: integer("Active Collider", "Collider that Per Collider shows", min=0)


def _note_other(self: Any, context: Any) -> None:
    self.name = self.other.name if self.other else ""


class SinewPair(bpy.types.PropertyGroup):
    """Contact settings of the body with another body or a collider; the name is kept after that is removed."""

    other: pointer(
        "Other",
        "Other body or collider of the pair",
        type=bpy.types.Object,
        poll=_is_no_body_itself,
        update=_note_other,
    )
    use_friction: switch("Own Friction", "Friction of this pair, instead of those of the two", default=True)
    friction: mirrored(PairSettings, "friction", "Friction", default=0.5, soft_max=1.0, precision=2)
    use_thickness: switch("Own Distance", "Contact distance of this pair, instead of those of the two")
    thickness: mirrored(PairSettings, "thickness", "Contact Distance", default=0.0, unit="LENGTH", precision=4)


class SinewCollider(bpy.types.PropertyGroup):
    """Friction and contact distance of a collider, which can override those of the bodies."""

    use_own: switch("Own Surface", "This collider has friction and distance of its own, for every body")
    friction: mirrored(Ground, "friction", "Friction", soft_max=1.0, precision=2)
    thickness: mirrored(Ground, "thickness", "Contact Distance", unit="LENGTH", precision=4)


CONTROLLED = tuple(f"stiffness_{k}" for k in range(1, 21))
"""Properties of the slowest vibrations, one per vibration, so that each can be keyed."""


class SinewVibrations(bpy.types.PropertyGroup):
    """Stiffness factors of the slowest vibrations."""


def _factor(number_of: int) -> Any:
    low, high = VIBRATION_STIFFNESS
    words = "Stiffness of this movement: 1 as it is, 0.1 softer, 10 stiffer, no unit"
    options = {"options": ANIMATED, "default": 1.0, "min": low, "max": high, "precision": 2, "step": 10}
    return number(f"Stiffness of Vibration {number_of}", words, **options)


SinewVibrations.__annotations__ = {name: _factor(k) for k, name in enumerate(CONTROLLED, start=1)}

CLASSES = (SinewSpring, SinewCollisions, SinewPair, SinewCollider, SinewVibrations)
