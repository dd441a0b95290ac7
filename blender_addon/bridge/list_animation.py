"""Animation of list items: F-curves and drivers name an item by its index, and stay behind when a list changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy


def follow_items(obj: Any, path: str, before: Sequence[int | None]) -> None:
    """Let the animation of ``obj``'s items follow them, and what is driven by them; call it after the list has changed.
    An action that others play, too (as after Alt+D), stays as it is for them: ``obj`` gets its own copy.

    Parameters
    ----------
    path : data path of the list, such as ``sinew.springs``
    before : index that each item had before, in their present order; animation of items that are gone goes, too, and
        drivers that read them are left without a path, which Blender marks as an error
    """
    now = {old: new for new, old in enumerate(before) if old is not None}
    pattern = re.compile(re.escape(path) + r"\[(\d+)\]")
    _unshare(obj, pattern)
    for curves in _curve_lists(obj):
        for curve in list(curves):
            match = pattern.match(curve.data_path)
            if match is None:
                continue
            index = now.get(int(match[1]))
            if index is None:
                curves.remove(curve)
            else:
                curve.data_path = f"{path}[{index}]{curve.data_path[match.end() :]}"
    for target in _targets(obj):
        match = pattern.match(target.data_path)
        if match is not None:
            index = now.get(int(match[1]))
            target.data_path = "" if index is None else f"{path}[{index}]{target.data_path[match.end() :]}"


def animated(obj: Any, path: str) -> set[str]:
    """Names of the properties at a data path, such as ``sinew.materials[0]``, that F-curves or drivers set."""
    return {each[len(path) + 1 :] for each in animated_paths(obj) if each.startswith(f"{path}.")}


def animated_paths(obj: Any) -> set[str]:
    """Data paths of all that F-curves or drivers set on an object."""
    return {curve.data_path for curves in _curve_lists(obj) for curve in curves}


def _curve_lists(obj: Any) -> Iterator[Any]:
    """The collections of F-curves and of drivers that animate an object, each once, those of NLA strips too."""
    if obj.animation_data is not None:
        yield obj.animation_data.drivers
        yield from curves_of(obj)


def _unshare(obj: Any, pattern: re.Pattern[str]) -> None:
    """Give an object its own copies of the actions that animate items and that others use, or that are of a library."""
    if obj.animation_data is None or obj.animation_data.use_tweak_mode:
        return
    concerned = [
        use
        for use in _uses(obj)
        if any(pattern.match(curve.data_path) for curves in _curves_of(*use[1:]) for curve in curves)
    ]
    if not concerned:
        return
    others = {_key(*use[1:]) for block in _data_blocks() if block != obj for use in _uses(block)}
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
    """What drivers anywhere in the file read of an object."""
    for owner in _data_blocks():
        animation = getattr(owner, "animation_data", None)
        for curve in animation.drivers if animation is not None else ():
            for variable in curve.driver.variables:
                yield from (target for target in variable.targets if target.id == obj)


def _data_blocks() -> Iterator[Any]:
    """Every data-block of the file and the node trees that belong to one, each once: since 5.2 one list has them all
    again.
    """
    seen = set()
    for name, kind in bpy.data.bl_rna.properties.items():
        for block in getattr(bpy.data, name) if kind.type == "COLLECTION" else ():
            for each in (block, getattr(block, "node_tree", None)):
                if each is not None and each.as_pointer() not in seen:
                    seen.add(each.as_pointer())
                    yield each


def curves_of(owner: Any) -> Iterator[Any]:
    """The collections of F-curves that animate a data-block, each once: of its action and of its NLA strips."""
    seen = set()
    for _player, action, slot in _uses(owner):
        use = _key(action, slot)
        if use not in seen:
            seen.add(use)
            yield from _curves_of(action, slot)


def curves_at(owner: Any, path: str) -> list[Any]:
    """The F-curves that animate a data-block's property, those of its action first."""
    return [curve for curves in curves_of(owner) for curve in curves if curve.data_path == path]


def _uses(owner: Any) -> Iterator[tuple[Any, Any, Any]]:
    """The actions of a data-block: what plays one (its animation data or a strip), the action and its slot there."""
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
    """The strips, and those within meta strips."""
    for strip in strips:
        yield strip
        yield from _inner_strips(strip.strips)


def _curves_of(action: Any, slot: Any) -> Iterator[Any]:
    if not hasattr(action, "layers"):
        yield action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot) if slot is not None else None
            if bag is not None:
                yield bag.fcurves
