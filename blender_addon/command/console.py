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
    """Print one line for readers."""
    print(f"sinew: {text}", file=sys.stderr, flush=True)


def _print(text: str) -> None:
    """Print lines for programs. What Blender has printed waits in a buffer of C's, which would be written out up to the
    middle of a line, and ours would go on with that.
    """
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
    print(text, flush=True)


@dataclass(frozen=True)
class ConsoleReporter:
    """Reports of a command besides the text: JSON objects with ``--json``, and with ``--openjd`` the progress lines of
    Open Job Description.
    """

    as_json: bool = False
    as_openjd: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> ConsoleReporter:
        """Return the reporter that the options ask for."""
        return cls(getattr(options, "json", False), getattr(options, "openjd", False))

    def event(self, event: str, **fields: Any) -> None:
        """Something that happened; ``docs/manual/farms.md`` names events and fields, which stay as they are."""
        if self.as_json:
            _print(json.dumps({"event": event, **fields}))

    def progress(self, part: float, words: str) -> None:
        """How much of the whole is done, 0 to 1, and what was done last."""
        if self.as_openjd:
            _print(f"openjd_progress: {100.0 * part:.1f}\nopenjd_status: {words}")

    def warn(self, body: str, message: str) -> None:
        """A warning about a body, or "" about the file."""
        say(f"{body}: warning: {message}" if body else f"warning: {message}")
        self.event("warning", body=body, message=message)

    def refuse(self, error: SinewError) -> None:
        """The error that ends the command."""
        say(f"error: {error}")
        self.event("error", code=error.code, message=error.message, remedy=error.remedy)
        if self.as_openjd:
            _print(f"openjd_fail: {' '.join(str(error).split())}")
