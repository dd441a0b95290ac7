"""Bodies of a scene that are baked by Bake All, and the order of their bakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..objects.contact_groups import groups_of_all
from ..objects.linked import own_bodies
from . import baking


def bodies_of(scene: Any) -> list[Any]:
    """Return the bodies of a scene that are baked in this file, in baking order (:func:`in_order`)."""
    return in_order(own_bodies(scene))


def in_order(bodies: Iterable[Any]) -> list[Any]:
    """Return bodies in baking order: each body after its colliders and its vertex parent.

    Independent bodies, and bodies in a cycle, keep their order.
    """
    return _ordered(list(bodies), _met_by)


def groups_in_order(bodies: Iterable[Any], context: Any) -> list[list[Any]]:
    """Return the contact groups of ``bodies`` in baking order.

    Each group comes after the groups that contain colliders or vertex parents of its bodies.
    """
    groups = groups_of_all(bodies, context)

    def before(group: list[Any]) -> list[list[Any]]:
        met = [other for obj in group for other in _met_by(obj)]
        return [each for each in groups if each is not group and any(other in each for other in met)]

    return _ordered(groups, before)


def _ordered(left: list[Any], before: Callable[[Any], list[Any]]) -> list[Any]:
    left, ordered = list(left), []
    while left:
        free = (each for each in left if not any(other in left for other in before(each)))
        ordered.append(next(free, left[0]))
        left.remove(ordered[-1])
    return ordered


def _met_by(obj: Any) -> list[Any]:
    """Return the objects that have to be baked before a body: its colliders and its vertex parent."""
    collection = obj.sinew.collisions.collection
    met = list(collection.all_objects) if collection is not None else []
    met += [obj.parent] if obj.parent_type in ("VERTEX", "VERTEX_3") else []
    return [other for other in met if other is not None and other != obj]


def unfinished(bodies: Iterable[Any]) -> list[Any]:
    """Return the bodies that have to be baked or resumed.

    The bake of such a body is incomplete, or the frames on disk differ from the displayed result.
    """
    return [obj for obj in bodies if obj.sinew.bake.status != "DONE" or baking.astray_words(obj)]
