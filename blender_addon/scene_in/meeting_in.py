"""Which bodies of a scene meet, and are baked as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..basics.linked import is_in, own_bodies


def met_by(obj: Any, context: Any) -> list[Any]:
    """The other bodies that a body meets, by name: each wants to, and is in the view layer."""
    others = (other for other in own_bodies(context.scene) if other != obj and is_in(context.view_layer, other))
    return sorted((other for other in others if wants(obj, other) and wants(other, obj)), key=lambda each: each.name)


def wants(obj: Any, other: Any) -> bool:
    """Whether a body is to meet another."""
    collisions = obj.sinew.collisions
    return collisions.meets_bodies and (collisions.met is None or other in collisions.met.all_objects[:])


def group_of(obj: Any, context: Any) -> list[Any]:
    """The bodies that are baked with one, it among them, by name: those that it meets, those that they meet, and so
    on.
    """
    group, new = [], [obj]
    while new:
        group.append(new.pop())
        new += [other for other in met_by(group[-1], context) if other not in group and other not in new]
    return sorted(group, key=lambda each: each.name)


def groups_of_all(bodies: Iterable[Any], context: Any) -> list[list[Any]]:
    """The groups of bodies, in the order in which they come first: others that they meet are in them, too."""
    groups: list[list[Any]] = []
    for obj in bodies:
        if not any(obj in group for group in groups):
            groups.append(group_of(obj, context))
    return groups
