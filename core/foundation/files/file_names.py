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


def check_names(names: Sequence[str], owner: str = "body") -> None:
    """Check that names can be folder names on every operating system.

    Valid names consist of letters, digits, ``_ - + ( ) .`` and inner spaces, have at most ``LONGEST`` bytes, and are
    not names of Windows devices. Two names must differ in more than letter case or Unicode composition. Raises
    SettingsError for other names, with the word ``owner`` for what has the name.
    """
    for name in names:
        if not _WORKS.fullmatch(name) or _DEVICES.fullmatch(name) or len(name.encode()) > LONGEST:
            raise SettingsError(
                f"The {owner} name {name!r} is not a valid folder name on every operating system.",
                "Give it a short name of letters, digits, _ and -.",
            )
    folded = [unicodedata.normalize("NFC", name).casefold() for name in names]
    for k, name in enumerate(folded):
        if name in folded[:k]:
            same = f"“{names[folded.index(name)]}” and “{names[k]}”"
            raise SettingsError(f"The {owner} names {same} mean the same folder on some systems.", "Rename one.")
