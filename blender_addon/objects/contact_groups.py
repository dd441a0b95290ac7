"""Contact groups of a scene: bodies that can collide or are tied, directly or through other bodies. They are baked
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.jobs.job.groups import all_in_contact
from ..translations.translate import translated
from .bones import joint_partner
from .collider_objects import SOLID
from .linked import is_in, is_linked, own_bodies

MOST_NAMED = 3
"""Maximum number of bodies listed by name."""


def contact_partners(obj: Any, context: Any) -> list[Any]:
    """Return the other bodies of the view layer that a body can collide with, sorted by name.

    Contact must be enabled for both bodies.
    """
    met = (other for other in _bodies(context) if other != obj and _meet(obj, other))
    return sorted(met, key=lambda each: each.name)


def group_of(obj: Any, context: Any) -> list[Any]:
    """Return the contact group of a body, sorted by name.

    The group is the body, the bodies that it can collide with or is tied to, their partners, and so on.
    """
    bodies = _bodies(context)
    if obj not in bodies:
        return [obj]
    others = [other for other in bodies if other != obj]
    return sorted(all_in_contact(obj, others, _are_coupled), key=lambda each: each.name)


def groups_of_all(bodies: Iterable[Any], context: Any) -> list[list[Any]]:
    """Return all contact groups with a body of ``bodies``, in the order of ``bodies``.

    A group also contains contact partners that are not in ``bodies``.
    """
    groups: list[list[Any]] = []
    for obj in bodies:
        if not any(obj in group for group in groups):
            groups.append(group_of(obj, context))
    return groups


def idle_words(obj: Any, pair: Any, context: Any) -> str:
    """Return the reason why the settings of a pair have no effect. The text is empty if the settings work.

    A pair is a body and one other object.
    """
    collection, other = obj.sinew.collisions.collection, pair.other
    if other is None:
        return (
            translated("“{name}” was removed: choose another, or remove the pair.", name=pair.name)
            if pair.name
            else translated("Choose an object.")
        )
    if other in contact_partners(obj, context) or (collection is not None and other in collection.all_objects[:]):
        return ""
    return translated("“{name}” is neither in contact nor a collider, so the pair has no effect.", name=other.name)


def idle_tie_words(tie: Any) -> str:
    """Return the reason why a tie cannot work, or an empty text."""
    if tie.other is None:
        return (
            translated("“{name}” was removed: choose another, or remove the tie.", name=tie.name)
            if tie.name
            else translated("Choose an object.")
        )
    return "" if tie.other.type in SOLID else translated("“{name}” has no surface: choose a mesh.", name=tie.other.name)


def tie_partners(obj: Any) -> list[Any]:
    """Return the objects to which a body is tied, and the body that it is joined to, each once."""
    others = *(tie.other for tie in obj.sinew.ties), joint_partner(obj)
    return list(dict.fromkeys(each for each in others if each is not None and each != obj))


def names_of(bodies: Sequence[Any]) -> str:
    """List the names of bodies in a sentence.

    At most ``MOST_NAMED`` names are listed, then the number of further bodies.
    """
    names, more = [f"“{each.name}”" for each in bodies[:MOST_NAMED]], len(bodies) - MOST_NAMED
    return ", ".join(names) + (translated(" and {more} more", more=more) if more > 0 else "")


def linked_bodies(context: Any) -> list[Any]:
    """Return the bodies of the view layer that are linked from other files. Linked bodies do not collide here."""
    enabled = (obj for obj in context.scene.objects if obj.type == "MESH" and obj.sinew.enabled)
    return [obj for obj in enabled if is_linked(obj) and is_in(context.view_layer, obj)]


def _bodies(context: Any) -> list[Any]:
    return [obj for obj in own_bodies(context.scene) if is_in(context.view_layer, obj)]


def _meet(one: Any, other: Any) -> bool:
    return _wants(one, other) and _wants(other, one)


def _are_coupled(one: Any, other: Any) -> bool:
    is_tied = other in tie_partners(one) or one in tie_partners(other)
    return is_tied or _meet(one, other) or _shared_chamber(one) == _shared_chamber(other) != ""


def _shared_chamber(obj: Any) -> str:
    chamber = obj.sinew.chamber
    return chamber.shared if chamber.enabled else ""


def _wants(obj: Any, other: Any) -> bool:
    """Return True if a body's contact settings enable contact with ``other``."""
    collisions = obj.sinew.collisions
    return collisions.contact_bodies and (
        collisions.contact_collection is None or other in collisions.contact_collection.all_objects[:]
    )
