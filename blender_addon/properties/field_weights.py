"""Field weights of a body for gravity and force fields, and reasons why a field does not act.

No ``from __future__ import annotations`` here: Blender reads the annotations as values.
"""

# No ``from __future__ import annotations``: Blender reads the annotations as values.
from typing import Any, NamedTuple

import bpy

from ..objects import linked
from .mirror import number, pointer

STRONGEST = 200.0
"""Blender's upper bound of field weights."""


class Kind(NamedTuple):
    """Type of force field.

    Attributes
    ----------
    weight : name of its weight property; "" if it does not act on bodies
    label : label of the weight property
    reason : reason why it does not act on bodies, else ""
    """

    weight: str = ""
    label: str = ""
    reason: str = ""


KINDS = {
    "FORCE": Kind("force", "Force"),
    "WIND": Kind("wind", "Wind"),
    "VORTEX": Kind("vortex", "Vortex"),
    "MAGNET": Kind("magnetic", "Magnetic"),
    "HARMONIC": Kind("harmonic", "Harmonic"),
    "CHARGE": Kind("charge", "Charge"),
    "TEXTURE": Kind("texture", "Texture"),
    "TURBULENCE": Kind("turbulence", "Turbulence"),
    "DRAG": Kind("drag", "Drag"),
    "LENNARDJ": Kind(reason="it acts between particles, and a body has none"),
    "GUIDE": Kind(reason="it guides particles along a curve; use Pins or Springs that follow the curve"),
    "BOID": Kind(reason="it acts on boid particles only"),
    "FLUID_FLOW": Kind("smokeflow", "Fluid Flow"),
}


def _weight(label: str, noun: str) -> Any:
    words = f"Factor on {noun} for this body, no unit: 1 full strength, 0 none"
    return number(label, words, default=1.0, min=0.0, max=STRONGEST, soft_max=1.0, precision=3)


class SinewFieldWeights(bpy.types.PropertyGroup):
    """Factors on gravity and on each type of force field for one body, named as in Blender."""

    collection: pointer(
        "Effector Collection",
        "Only force fields in this collection act on the body; empty: all force fields of the view layer",
        type=bpy.types.Collection,
    )
    gravity: _weight("Gravity", "the scene's gravity")
    all: _weight("All", "all force fields")
    own_charge: number(
        "Body's Charge",
        "Electric charge of the body in force fields of type Charge, no unit: 0 none, -1 reverses the force",
        default=1.0,
        soft_min=-10.0,
        soft_max=10.0,
        precision=3,
    )


SinewFieldWeights.__annotations__.update(
    {kind.weight: _weight(kind.label, f"force fields of type {kind.label}") for kind in KINDS.values() if kind.weight}
)


def fields_for(obj: Any, view_layer: Any) -> list[Any]:
    """Return the force field objects that may act on a body, sorted by name.

    An effector collection of the body limits the search in the view layer. The body and its bake result are left out.
    """
    collection = obj.sinew.field_weights.collection
    among = view_layer.objects if collection is None else collection.all_objects
    own = obj, obj.sinew.bake.result
    fields = (o for o in among if o not in own and has_field(o) and linked.is_in(view_layer, o))
    return sorted(fields, key=lambda o: o.name)


def has_field(obj: Any) -> bool:
    """Return True if an object is a force field."""
    return obj.field is not None and obj.field.type != "NONE"


def fluid_domain(obj: Any) -> Any:
    """Return the fluid domain modifier of an object, or None."""
    modifiers = obj.modifiers if obj is not None else ()
    return next((m for m in modifiers if m.type == "FLUID" and m.fluid_type == "DOMAIN"), None)


def reason_for(settings: Any) -> str:
    """Return the reason why a force field cannot act on any body. The text is empty if the field can act.

    ``settings``: ``Object.field``.
    """
    if settings.type == "FLUID_FLOW" and fluid_domain(settings.source_object) is None:
        return "choose a fluid domain as its Domain Object"
    return KINDS.get(settings.type, Kind(reason="Sinew does not know this type")).reason


def weight_of(obj: Any, kind: str) -> float:
    """Return a body's factor on force fields of type ``kind``.

    The factor is the product of the body's weights for this type and for all types. Types that do not act on bodies
    return 0.
    """
    weights, name = obj.sinew.field_weights, KINDS.get(kind, Kind()).weight
    return weights.all * getattr(weights, name) if name else 0.0


def is_enabled(obj: Any, view_layer: Any) -> bool:
    """Return True if a force field acts in a view layer.

    The field and a collection that contains it must be enabled in viewports. As in Blender, the eye icon has no effect.
    """
    return not obj.hide_viewport and _reaches(view_layer.layer_collection, obj)


def _reaches(layer_collection: Any, obj: Any) -> bool:
    if layer_collection.exclude or layer_collection.collection.hide_viewport:
        return False
    if linked.holds(layer_collection.collection.objects, obj):
        return True
    return any(_reaches(child, obj) for child in layer_collection.children)


CLASSES = (SinewFieldWeights,)
