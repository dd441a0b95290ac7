"""Work in Blender's own thread that goes by steps, so that a window can draw and hear Esc between two of them."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[float, None, Result]
"""Gives the part done, 0 to 1, after each step, and at the end returns the result; closed before, it leaves the scene
as it was.
"""


def at_once(steps: Steps[Result]) -> Result:
    """All the steps; the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
