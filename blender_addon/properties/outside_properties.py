"""Settings of springs, collisions and vibration control, parts of ``Object.sinew``.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any

import bpy
from mathutils import Vector

from ...core.foundation.schema.settings import ContactSettings
from ...core.jobs.job.body import VIBRATION_STIFFNESS
from ...core.jobs.job.chamber import Chamber
from ...core.jobs.job.environment import Ground
from ...core.jobs.job.pair import PairSettings
from ...core.jobs.job.tie import Tie
from .mirror import ANIMATED, integer, menu, mirrored, number, pointer, switch, text, weights

SPRING_ENDS = (
    (
        "ANIMATION",
        "Own Animation",
        "Pull the vertices to their positions in the object's own animation, as a soft pin",
    ),
    ("OBJECT", "Object", "Pull the vertices along with another object, as if they were fixed to it"),
)

TIE_KINDS = (
    ("glue", "Glue", "Keep the surfaces together"),
    ("slide", "Slide", "Keep the surfaces at their distance, and let them slide along each other"),
)


def _is_no_body_itself(self: Any, candidate: Any) -> bool:
    return candidate != self.id_data


class SinewSpring(bpy.types.PropertyGroup):
    """Springs from the vertices of one vertex group to targets that move."""

    vertex_group: weights(
        "Vertices", "Vertex group that is pulled; its weights distribute the strength over the vertices"
    )
    end: menu("Pull To", "Target that the vertices are pulled to", items=SPRING_ENDS)
    target: pointer(
        "Object",
        "Object that pulls the vertices along. The target of each vertex moves with the object, and begins at the "
        "position of the vertex at the first frame",
        type=bpy.types.Object,
        poll=_is_no_body_itself,
    )
    strength: number(
        "Strength (N/m)",
        "Spring stiffness of all vertices together, N/m: 100 to 10000 for a few kilograms. Key it to 0 to let go",
        options=ANIMATED,
        default=1000.0,
        min=0.0,
        soft_max=1e6,
        precision=1,
        step=1000,
    )
    take: text("Take", "Name of the live recording (take) that created the spring; empty for other springs")


def _put_ground_below(self: Any, context: Any) -> None:
    """Lower an enabled ground to just below the body.

    Blender centers new meshes at the origin, so half of a new body lies below a ground at height 0.
    """
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
        "Collide only with bodies in this collection; empty: with all bodies that have Soft Bodies enabled",
        type=bpy.types.Collection,
    )
    contact_friction: mirrored(ContactSettings, "friction", "Friction", soft_max=1.0, precision=2)
    contact_thickness: mirrored(ContactSettings, "thickness", "Contact Distance", unit="LENGTH", precision=4)

    use_ground: switch("Ground", "Collide with an infinite horizontal floor", update=_put_ground_below)
    height: mirrored(Ground, "height", "Height", unit="LENGTH")
    friction: mirrored(Ground, "friction", "Friction", soft_max=1.0, precision=2)
    collection: pointer(
        "Colliders",
        "Collide with all meshes in this collection, static or animated, except the body itself",
        type=bpy.types.Collection,
    )
    collider_friction: mirrored(Ground, "friction", "Collider Friction", soft_max=1.0, precision=2)
    thickness: mirrored(Ground, "thickness", "Contact Distance", unit="LENGTH", precision=4)
    active_collider: integer("Active Collider", "Index of the collider that the panel Per Collider shows", min=0)


def _note_other(self: Any, context: Any) -> None:
    self.name = self.other.name if self.other else ""


class SinewPair(bpy.types.PropertyGroup):
    """Contact settings of the body with one other body or collider. The item has the name of that object, and keeps it
    when the object is deleted.
    """

    other: pointer(
        "Other",
        "Other body or collider of the pair",
        type=bpy.types.Object,
        poll=_is_no_body_itself,
        update=_note_other,
    )
    use_friction: switch("Own Friction", "Use this friction between the two objects instead of their own", default=True)
    friction: mirrored(PairSettings, "friction", "Friction", default=0.5, soft_max=1.0, precision=2)
    use_thickness: switch("Own Distance", "Use this contact distance between the two objects instead of their own")
    thickness: mirrored(PairSettings, "thickness", "Contact Distance", default=0.0, unit="LENGTH", precision=4)


class SinewTie(bpy.types.PropertyGroup):
    """Tie of the body to one other body or collider. The item has the name of that object, and keeps it when the object
    is deleted.
    """

    other: pointer(
        "Other",
        "Body or mesh to which the body is tied where the two are near each other at rest",
        type=bpy.types.Object,
        poll=_is_no_body_itself,
        update=_note_other,
    )
    kind: menu("Kind", "How the two surfaces are held together", items=TIE_KINDS)
    vertex_group: weights("Vertices", "Vertex group where the tie acts, by weight; empty: wherever the two are near")
    distance: mirrored(Tie, "distance", "Distance", unit="LENGTH", precision=4)
    strength: number(
        "Strength",
        "Factor on the stiffness of the tie, no unit: 1 firm, 0.001 as soft as the flesh. Key it to 0 to let go",
        options=ANIMATED,
        default=1.0,
        min=0.0,
        soft_max=1.0,
        precision=3,
    )
    use_breaking: switch("Break", "End the tie where the force per area exceeds a stress")
    breaking_stress: mirrored(Tie, "breaking_stress", "Breaking Stress", default=1e4, precision=0)


class SinewChamber(bpy.types.PropertyGroup):
    """Pressure in the body's cavities, or inside it."""

    enabled: switch("Pressure", "Fill the body's cavities with a gas, or the whole body if it has no cavity")
    vertex_group: weights(
        "Chamber",
        "Vertex group of all vertices around the chamber. Empty: every cavity of the mesh is a chamber, or without one "
        "the whole inside",
    )
    is_gas: mirrored(Chamber, "is_gas", "Gas")
    shared: text(
        "Shared",
        "Name of a chamber that several bodies enclose together: a tyre and its rim, the halves of a ball. Give all of "
        "them the same name, and touching borders",
    )
    pressure: number(
        "Pressure (Pa)",
        "Pressure above that of the air, Pa: party balloon 3000, bicycle tire 300000. Key it to inflate and deflate",
        options=ANIMATED,
        default=1000.0,
        soft_min=-1e5,
        soft_max=1e6,
        precision=0,
        step=10000,
    )


class SinewCollider(bpy.types.PropertyGroup):
    """Friction and contact distance of an object as a collider. With ``use_own``, they replace the values that the
    bodies set for all of their colliders.
    """

    use_own: switch("Own Surface", "Use this collider's own friction and contact distance against every body")
    friction: mirrored(Ground, "friction", "Friction", soft_max=1.0, precision=2)
    thickness: mirrored(Ground, "thickness", "Contact Distance", unit="LENGTH", precision=4)


CONTROLLED = tuple(f"stiffness_{k}" for k in range(1, 21))
"""Names of the stiffness factors of the 20 slowest vibrations. Separate properties can be keyed separately."""


class SinewVibrations(bpy.types.PropertyGroup):
    """Stiffness factors of the 20 slowest vibrations."""


def _factor(number_of: int) -> Any:
    low, high = VIBRATION_STIFFNESS
    words = "Factor on the stiffness of this vibration, no unit: 1 unchanged, 0.1 softer, 10 stiffer"
    options = {"options": ANIMATED, "default": 1.0, "min": low, "max": high, "precision": 2, "step": 10}
    return number(f"Stiffness of Vibration {number_of}", words, **options)


SinewVibrations.__annotations__ = {name: _factor(k) for k, name in enumerate(CONTROLLED, start=1)}

CLASSES = (SinewSpring, SinewCollisions, SinewPair, SinewTie, SinewChamber, SinewCollider, SinewVibrations)
