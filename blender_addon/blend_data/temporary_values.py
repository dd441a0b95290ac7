"""Temporary values of Blender's properties that animation and drivers do not overwrite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .list_animation import curves_at


class Override(NamedTuple):
    """Temporary value of a property of a data-block. The data path identifies the property, since it stays valid when
    lists such as the modifiers are edited.
    """

    block: Any
    path: str
    value: Any

    @classmethod
    def of(cls, owner: Any, name: str, value: Any) -> Override:
        """Return the override of property ``name`` of a data-block, or of data within one, such as a modifier."""
        return cls(owner.id_data, owner.path_from_id(name), value)

    def current(self) -> Any:
        """Return the present value of the property."""
        return self.block.path_resolve(self.path)

    def assign(self, value: Any) -> None:
        """Set the property to ``value`` if it differs: even setting an equal value makes Blender reset rigid bodies."""
        if self.current() != value:
            before, _, name = self.path.rpartition(".")
            setattr(self.block.path_resolve(before) if before else self.block, name, value)


@contextmanager
def overridden(overrides: Iterable[Override]) -> Iterator[None]:
    """Override properties within the context, and mute the F-curves and drivers that would set them."""
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
    """Set the mute flags of an override's curves, which are looked up each time, since an undo frees them."""
    for curve, mute in zip(curves_and_drivers(override.block, override.path), muted, strict=False):
        if curve.mute != mute:
            curve.mute = mute


def is_animated(owner: Any, name: str) -> bool:
    """Return True if unmuted F-curves or drivers set a property of a data-block, or of data within one."""
    return any(not curve.mute for curve in curves_and_drivers(owner.id_data, owner.path_from_id(name)))


def curves_and_drivers(block: Any, path: str) -> list[Any]:
    """Return the F-curves, including those of NLA strips, and the drivers that set a property of a data-block."""
    animation = getattr(block, "animation_data", None)
    if animation is None:
        return []
    return [*curves_at(block, path), *(driver for driver in animation.drivers if driver.data_path == path)]
