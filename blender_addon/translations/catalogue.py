"""Reader of gettext catalogues (.po files). It reads text and runs no code."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""Folder of the catalogues, one per language. The name of each is the language's name in Blender, such as ``de``."""

_ENTRY = re.compile(r'^msgid ((?:"[^\n]*"\n)+)msgstr ((?:"[^\n]*"(?:\n|\Z))+)', re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def languages() -> dict[str, Path]:
    """Return the catalogues by language, in alphabetical order."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.po"))}


def entries(text: str) -> dict[str, str]:
    """Return the translations of a catalogue's content by English text. A missing translation is an empty text.

    Comments (``#``), and with them obsolete entries (``#~``), are ignored.
    """
    found = {_unquoted(english): _unquoted(other) for english, other in _ENTRY.findall(text)}
    found.pop("", None)  # the header
    return found


def placeholders(text: str) -> set[str]:
    """Return the placeholders of a text, such as ``{count:,}``."""
    return set(_PLACEHOLDER.findall(text)) if "{" in text else set()


def usable(path: Path) -> dict[str, str]:
    """Return the translations in a catalogue that keep the placeholders of the English text. Others stay English."""
    found = entries(path.read_text(encoding="utf-8"))
    return {
        english: other for english, other in found.items() if other and placeholders(english) == placeholders(other)
    }


def _unquoted(lines: str) -> str:
    joined = lines.strip()[1:-1].replace('"\n"', "")
    if "\\" not in joined:
        return joined
    return _ESCAPED.sub(lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), joined)
