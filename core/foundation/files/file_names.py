"""File and folder names that are valid on every operating system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ..errors import SettingsError

_WORKS = re.compile(r"\w([\w .()+-]*[\w)+-])?")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)
LONGEST = 100
"""Maximum length of a name, bytes: file systems allow 255, and suffixes are appended."""


def check_names(names: Sequence[str]) -> None:
    """Raise SettingsError unless folders can have these names on every system: letters, digits, ``_ - + ( ) .`` and
    inner spaces; no Windows device names, and no two names that some file system treats as equal.
    """
    for name in names:
        if not _WORKS.fullmatch(name) or _DEVICES.fullmatch(name) or len(name.encode()) > LONGEST:
            raise SettingsError(
                f"A body has the name {name!r}, which not every system allows for its folder.",
                "Give it a short name of letters, digits, _ and -.",
            )
    folded = [unicodedata.normalize("NFC", name).casefold() for name in names]
    for k, name in enumerate(folded):
        if name in folded[:k]:
            same = f"“{names[folded.index(name)]}” and “{names[k]}”"
            raise SettingsError(f"Two bodies have the names {same}, the same folder on some systems.", "Rename one.")
