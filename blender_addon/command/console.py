"""Output of a command: text on standard error; for programs, one JSON object per line on standard output."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
from dataclasses import dataclass
from typing import Any

from ...core.foundation.errors import SinewError


def say(text: str) -> None:
    """Print one line of text."""
    print(f"sinew: {text}", file=sys.stderr, flush=True)


def _print(text: str) -> None:
    """Print lines for programs. Blender's output is flushed from C's buffer first, since it may end within a line."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
    print(text, flush=True)


@dataclass(frozen=True)
class ConsoleReporter:
    """Reporter of a command for programs, besides the text: JSON objects with ``--json``, progress lines of Open Job
    Description with ``--openjd``.
    """

    as_json: bool = False
    as_openjd: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> ConsoleReporter:
        """Return the reporter that the options ask for."""
        return cls(getattr(options, "json", False), getattr(options, "openjd", False))

    def event(self, event: str, **fields: Any) -> None:
        """Report an event; ``docs/manual/farms.md`` documents all events and their fields, which do not change."""
        if self.as_json:
            _print(json.dumps({"event": event, **fields}))

    def progress(self, part: float, words: str) -> None:
        """Report the fraction ``part`` of the command that is done, 0 to 1, and in ``words`` what was done last."""
        if self.as_openjd:
            _print(f"openjd_progress: {100.0 * part:.1f}\nopenjd_status: {words}")

    def warn(self, body: str, message: str) -> None:
        """Report a warning about a body; with "", about the file."""
        say(f"{body}: warning: {message}" if body else f"warning: {message}")
        self.event("warning", body=body, message=message)

    def refuse(self, error: SinewError) -> None:
        """Report the error that ends the command."""
        say(f"error: {error}")
        self.event("error", code=error.code, message=error.message, remedy=error.remedy)
        if self.as_openjd:
            _print(f"openjd_fail: {' '.join(str(error).split())}")
