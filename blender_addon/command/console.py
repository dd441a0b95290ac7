"""Output of a command: text on standard error, and JSON for programs on standard output."""

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
    """Print one line of text to standard error, after ``sinew:``."""
    print(f"sinew: {text}", file=sys.stderr, flush=True)


def _print(text: str) -> None:
    """Print a line for programs to standard output. C's output buffer is flushed first."""
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
    print(text, flush=True)


@dataclass(frozen=True)
class ConsoleReporter:
    """Reporter of a command's events, as text on standard error.

    Programs get JSON objects (``--json``) or progress lines of Open Job Description (``--openjd``) on standard output.
    """

    as_json: bool = False
    as_openjd: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> ConsoleReporter:
        """Return the reporter for the options of a command."""
        return cls(getattr(options, "json", False), getattr(options, "openjd", False))

    def event(self, event: str, **fields: Any) -> None:
        """Print an event as a JSON object if ``--json`` is set.

        The events and fields are a stable interface, listed in ``docs/manual/farms.md``.
        """
        if self.as_json:
            _print(json.dumps({"event": event, **fields}))

    def progress(self, part: float, words: str) -> None:
        """Print the progress if ``--openjd`` is set.

        ``part``: finished fraction of the command, 0 to 1. ``words``: status text.
        """
        if self.as_openjd:
            _print(f"openjd_progress: {100.0 * part:.1f}\nopenjd_status: {words}")

    def warn(self, body: str, message: str) -> None:
        """Report a warning about the body named ``body``, or about the file if ``body`` is ""."""
        say(f"{body}: warning: {message}" if body else f"warning: {message}")
        self.event("warning", body=body, message=message)

    def refuse(self, error: SinewError) -> None:
        """Report the error that ends the command."""
        say(f"error: {error}")
        self.event("error", code=error.code, message=error.message, remedy=error.remedy)
        if self.as_openjd:
            _print(f"openjd_fail: {' '.join(str(error).split())}")
