"""Work in Blender's main thread, in steps, so that the window can draw and handle Esc in between."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[float, None, Result]
"""Generator that yields the fraction done, 0 to 1, and returns the result. Closed early, it restores the scene."""


def at_once(steps: Steps[Result]) -> Result:
    """Run all steps of a generator without pause; return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
