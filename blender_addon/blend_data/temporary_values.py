"""Temporary values of Blender properties. Animation and drivers are muted meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .list_animation import curves_at


class Override(NamedTuple):
    """Temporary ``value`` of the property at the data path ``path`` of a data-block.

    A path stays valid when lists such as the modifiers are edited. A Python reference to a list item would not.
    """

    block: Any
    path: str
    value: Any

    @classmethod
    def of(cls, owner: Any, name: str, value: Any) -> Override:
        """Return an override of the property ``name`` of ``owner``: a data-block, or data within one, such as a
        modifier.
        """
        return cls(owner.id_data, owner.path_from_id(name), value)

    def current(self) -> Any:
        """Return the present value of the property."""
        return self.block.path_resolve(self.path)

    def assign(self, value: Any) -> None:
        """Set the property to ``value``, unless it has this value. Even an equal value makes Blender reset rigid
        bodies.
        """
        if self.current() != value:
            before, _, name = self.path.rpartition(".")
            setattr(self.block.path_resolve(before) if before else self.block, name, value)


@contextmanager
def overridden(overrides: Iterable[Override]) -> Iterator[None]:
    """Set the overrides within the context, and mute the F-curves and drivers of their properties.

    Values and mute flags are restored at the end.
    """
    applied: list[tuple[Override, Any, list[bool]]] = []
    try:
        for override in overrides:
            curves = curves_and_drivers(override.block, override.path)
            applied.append((override, override.current(), [curve.mute for curve in curves]))
            _mute(override, [True] * len(curves))
            override.assign(override.value)
        yield
    finally:
        for override, before, was_muted in reversed(applied):
            # Another window may delete the object (ReferenceError) or the modifier (ValueError) meanwhile.
            with suppress(ReferenceError, ValueError):
                override.assign(before)
            with suppress(ReferenceError):
                _mute(override, was_muted)


def _mute(override: Override, muted: list[bool]) -> None:
    """Set the mute flags of an overridden property's F-curves and drivers, one flag per curve."""
    for curve, mute in zip(curves_and_drivers(override.block, override.path), muted, strict=False):
        if curve.mute != mute:
            curve.mute = mute


def is_animated(owner: Any, name: str) -> bool:
    """Return True if an F-curve or driver that is not muted sets the property ``name`` of ``owner``.

    ``owner`` is a data-block, or data within one, such as a modifier.
    """
    return any(not curve.mute for curve in curves_and_drivers(owner.id_data, owner.path_from_id(name)))


def curves_and_drivers(block: Any, path: str) -> list[Any]:
    """Return the F-curves and drivers that set the property at the data path ``path`` of a data-block.

    F-curves of NLA strips are included.
    """
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return []
    return [*curves_at(block, path), *(driver for driver in animation.drivers if driver.data_path == path)]
