"""Animation of list items. F-curves and drivers refer to list items by index, so list edits must rewrite data paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy


def follow_items(obj: Any, path: str, before: Sequence[int | None]) -> None:
    """Update the animation of a list's items after items were moved or removed.

    F-curves of items, and drivers in the file that read items, are updated. If other objects use the action of ``obj``
    (as after Alt+D), ``obj`` first gets a copy.

    Parameters
    ----------
    path : data path of the list, such as ``sinew.springs``
    before : previous index per present item, None for a new item. Animation of removed items is removed. Drivers that
        read a removed item get an empty path, which Blender marks as an error
    """
    now = {old: new for new, old in enumerate(before) if old is not None}
    pattern = re.compile(re.escape(path) + r"\[(\d+)\]")
    _unshare(obj, pattern)

    def moved(match: re.Match[str]) -> str:
        """Return the matched data path with the item's present index, or "" if the item was removed."""
        index = now.get(int(match[1]))
        return "" if index is None else f"{path}[{index}]{match.string[match.end() :]}"

    for curves in _curve_lists(obj):
        for curve in [curve for curve in curves if pattern.match(curve.data_path)]:
            if there := moved(pattern.match(curve.data_path)):
                curve.data_path = there
            else:
                curves.remove(curve)
    for target in _targets(obj):
        if match := pattern.match(target.data_path):
            target.data_path = moved(match)


def animated(obj: Any, path: str) -> set[str]:
    """Return the names of the animated properties under a data path, such as ``sinew.materials[0]``.

    F-curves and drivers count as animation.
    """
    return {each[len(path) + 1 :] for each in animated_paths(obj) if each.startswith(f"{path}.")}


def animated_paths(obj: Any) -> set[str]:
    """Return the data paths of an object's properties that F-curves or drivers animate."""
    return {curve.data_path for curves in _curve_lists(obj) for curve in curves}


def _curve_lists(obj: Any) -> Iterator[Any]:
    """Yield the driver collection of an object and its F-curve collections, without duplicates."""
    if obj.animation_data is not None:
        yield obj.animation_data.drivers
        yield from curves_of(obj)


def _unshare(obj: Any, pattern: re.Pattern[str]) -> None:
    """Give an object its own copy of each shared action that animates a data path matching ``pattern``."""
    if obj.animation_data is None or obj.animation_data.use_tweak_mode:
        return
    concerned = [
        use
        for use in _uses(obj)
        if any(pattern.match(curve.data_path) for curves in curves_of_action(*use[1:]) for curve in curves)
    ]
    if not concerned:
        return
    users = {user for _player, action, _slot in concerned for user in _users(action)}
    others = {_key(*use[1:]) for user in users - {obj} for use in _uses(user)}
    copies: dict[Any, Any] = {}
    for player, action, slot in concerned:
        if _key(action, slot) not in others and action.library is None:
            continue
        if action not in copies:
            copies[action] = action.copy()
        player.action = copies[action]
        if slot is not None:
            player.action_slot = next(own for own in copies[action].slots if own.handle == slot.handle)


def _targets(obj: Any) -> Iterator[Any]:
    """Yield the targets of all drivers in the file that refer to an object."""
    for owner in _users(obj):
        animation = getattr(owner, "animation_data", None)
        for curve in animation.drivers if animation is not None else ():
            for variable in curve.driver.variables:
                yield from (target for target in variable.targets if target.id == obj)


def _users(block: Any) -> set[Any]:
    """Return a data-block, the data-blocks that use it, and their embedded node trees."""
    users = {block, *bpy.data.user_map(subset=[block])[block]}
    return users | {user.node_tree for user in users if getattr(user, "node_tree", None) is not None}


def curves_of(owner: Any) -> Iterator[Any]:
    """Yield the F-curve collections that animate a data-block, without duplicates.

    The collections of the data-block's action come first, those of its NLA strips after.
    """
    seen = set()
    for _player, action, slot in _uses(owner):
        use = _key(action, slot)
        if use not in seen:
            seen.add(use)
            yield from curves_of_action(action, slot)


def curves_at(owner: Any, path: str) -> list[Any]:
    """Return the F-curves that animate the property at the data path ``path`` of a data-block.

    F-curves of the data-block's action come first, those of NLA strips after.
    """
    return [curve for curves in curves_of(owner) for curve in curves if curve.data_path == path]


def _uses(owner: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (player, action, slot) for each action that animates a data-block.

    The player is the data-block's animation data or an NLA strip. The slot is None before Blender 4.4.
    """
    animation = getattr(owner, "animation_data", None)
    if animation is None:
        return
    strips = [strip for track in animation.nla_tracks for strip in _inner_strips(track.strips)]
    for player in (animation, *strips):
        if player.action is not None:
            # Before 4.4 an action has no slots.
            yield player, player.action, getattr(player, "action_slot", None)


def _key(action: Any, slot: Any) -> tuple[Any, int | None]:
    return action, slot.handle if slot is not None else None


def _inner_strips(strips: Any) -> Iterator[Any]:
    """Yield NLA strips, including those within meta strips."""
    for strip in strips:
        yield strip
        yield from _inner_strips(strip.strips)


def curves_of_action(action: Any, slot: Any) -> Iterator[Any]:
    """Yield the F-curve collections of a slot of an action. The slot is None before Blender 4.4."""
    if not hasattr(action, "layers"):
        yield action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot) if slot is not None else None
            if bag is not None:
                yield bag.fcurves
