"""The lists of a body, its physical materials, springs and pairs: which item is active, and how it is moved and
removed.

A list is told by the ``noun`` of its items: those of ``"spring"`` are ``sinew.springs``, the index of the active one is
``sinew.active_spring``.
"""

from __future__ import annotations

from typing import Any

from .list_animation import follow_items


def active_index(settings: Any, noun: str) -> int:
    """Index of the item that the list shows as active; -1 where it is empty."""
    return min(getattr(settings, f"active_{noun}"), len(getattr(settings, f"{noun}s")) - 1)


def active_item(settings: Any, noun: str) -> Any | None:
    """The item that the list shows as active, or None where it is empty."""
    index = active_index(settings, noun)
    return None if index < 0 else getattr(settings, f"{noun}s")[index]


def own_name(name: str, taken: set[str], form: str = "{} {}") -> str:
    """``name``, or with a number, ``name 2``, ``name 3`` ..., where it is taken."""
    names = (name, *(form.format(name, k) for k in range(2, len(taken) + 3)))
    return next(candidate for candidate in names if candidate not in taken)


def remove_active(obj: Any, noun: str) -> None:
    """Remove the active item of a list that has some, its animation with it."""
    settings = obj.sinew
    items, index = getattr(settings, f"{noun}s"), active_index(settings, noun)
    order = list(range(len(items)))
    items.remove(index)
    del order[index]
    follow_items(obj, f"sinew.{noun}s", order)
    setattr(settings, f"active_{noun}", max(0, min(index, len(order) - 1)))


def move_active(obj: Any, noun: str, places: int) -> bool:
    """Move the active item of a list that has some so many places down, its animation with it; whether it could."""
    settings = obj.sinew
    items, index = getattr(settings, f"{noun}s"), active_index(settings, noun)
    order, target = list(range(len(items))), index + places
    if not 0 <= target < len(order):
        return False
    items.move(index, target)
    order.insert(target, order.pop(index))
    follow_items(obj, f"sinew.{noun}s", order)
    setattr(settings, f"active_{noun}", target)
    return True
