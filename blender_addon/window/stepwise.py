"""Work in Blender's main thread in steps, between which the window draws and handles Esc."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[float, None, Result]
"""Generator that yields the finished fraction, 0 to 1, and returns the result. Closed early, it restores the scene."""


def at_once(steps: Steps[Result]) -> Result:
    """Run all steps of a generator without pause. Returns the generator's result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
