"""Which bodies of a scene meet, and are baked as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.jobs.job.groups import all_in_contact
from .linked import is_in, is_linked, own_bodies

MOST_NAMED = 3
"""Bodies that are named of several."""


def contact_partners(obj: Any, context: Any) -> list[Any]:
    """The other bodies that a body meets, by name: each wants to, and is in the view layer."""
    met = (other for other in _bodies(context) if other != obj and _meet(obj, other))
    return sorted(met, key=lambda each: each.name)


def group_of(obj: Any, context: Any) -> list[Any]:
    """The bodies that are baked with one, it among them, by name: those that it meets, those that they meet, and so
    on.
    """
    bodies = _bodies(context)
    if obj not in bodies:
        return [obj]
    others = [other for other in bodies if other != obj]
    return sorted(all_in_contact(obj, others, _meet), key=lambda each: each.name)


def groups_of_all(bodies: Iterable[Any], context: Any) -> list[list[Any]]:
    """The groups of bodies, in the order in which they come first: others that they meet are in them, too."""
    groups: list[list[Any]] = []
    for obj in bodies:
        if not any(obj in group for group in groups):
            groups.append(group_of(obj, context))
    return groups


def idle_words(obj: Any, pair: Any, context: Any) -> str:
    """Why what is told of a pair does nothing; "" where it acts."""
    collection, other = obj.sinew.collisions.collection, pair.other
    if other is None:
        return f"“{pair.name}” was removed: choose another, or remove the pair." if pair.name else "Choose the other."
    if other in contact_partners(obj, context) or (collection is not None and other in collection.all_objects[:]):
        return ""
    return f"“{other.name}” is neither in contact nor a collider: the pair has no effect."


def names_of(bodies: Sequence[Any]) -> str:
    """Bodies by name, a few of them."""
    names, more = [f"“{each.name}”" for each in bodies[:MOST_NAMED]], len(bodies) - MOST_NAMED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def linked_bodies(context: Any) -> list[Any]:
    """Bodies of other files in the view layer: they are baked there, and met by none."""
    enabled = (obj for obj in context.scene.objects if obj.type == "MESH" and obj.sinew.enabled)
    return [obj for obj in enabled if is_linked(obj) and is_in(context.view_layer, obj)]


def _bodies(context: Any) -> list[Any]:
    return [obj for obj in own_bodies(context.scene) if is_in(context.view_layer, obj)]


def _meet(one: Any, other: Any) -> bool:
    return _wants(one, other) and _wants(other, one)


def _wants(obj: Any, other: Any) -> bool:
    """Return True if a body is to meet another."""
    collisions = obj.sinew.collisions
    return collisions.contact_bodies and (
        collisions.contact_collection is None or other in collisions.contact_collection.all_objects[:]
    )
