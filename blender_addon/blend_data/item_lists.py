"""Functions on the active item of a body's list, such as springs: find, move and remove it.

A function selects a list by the noun for its items. The noun ``"spring"`` stands for the list ``sinew.springs`` and its
active index ``sinew.active_spring``.
"""

from __future__ import annotations

from typing import Any

from .list_animation import follow_items


def active_index(settings: Any, noun: str) -> int:
    """Return the index of the active item of the list ``noun``, such as ``"spring"``. An empty list returns -1."""
    return min(getattr(settings, f"active_{noun}"), len(getattr(settings, f"{noun}s")) - 1)


def active_item(settings: Any, noun: str) -> Any | None:
    """Return the active item of the list ``noun``, such as ``"spring"``. An empty list returns None."""
    index = active_index(settings, noun)
    return None if index < 0 else getattr(settings, f"{noun}s")[index]


def own_name(name: str, taken: set[str], form: str = "{} {}") -> str:
    """Return ``name``, or a numbered name if ``name`` is in ``taken``.

    The number is the first one, from 2, that gives an unused name. ``form``: format of a numbered name.
    """
    names = (name, *(form.format(name, k) for k in range(2, len(taken) + 3)))
    return next(candidate for candidate in names if candidate not in taken)


def remove_active(obj: Any, noun: str) -> None:
    """Remove the active item of the nonempty list ``noun``, with its animation."""
    settings = obj.sinew
    items, index = getattr(settings, f"{noun}s"), active_index(settings, noun)
    order = list(range(len(items)))
    items.remove(index)
    del order[index]
    follow_items(obj, f"sinew.{noun}s", order)
    setattr(settings, f"active_{noun}", max(0, min(index, len(order) - 1)))


def move_active(obj: Any, noun: str, offset: int) -> bool:
    """Move the active item of the nonempty list ``noun``, with its animation, by ``offset``.

    Returns False if the new index does not exist.
    """
    settings = obj.sinew
    items, index = getattr(settings, f"{noun}s"), active_index(settings, noun)
    order, target = list(range(len(items))), index + offset
    if not 0 <= target < len(order):
        return False
    items.move(index, target)
    order.insert(target, order.pop(index))
    follow_items(obj, f"sinew.{noun}s", order)
    setattr(settings, f"active_{noun}", target)
    return True
