"""``build_addon.py translations``: updates the catalogues of the interface, and reports missing translations."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from . import environments
from .project import ROOT

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {language}\\n"\n'


def run(language: str | None) -> int:
    """Update every catalogue, after making an empty one for a new ``language``. Return 0 if all are complete, else
    1.
    """
    if importlib.util.find_spec("bpy") is None:
        command = [environments.ensure("main"), ROOT / "build_addon.py", "translations", *filter(None, [language])]
        return subprocess.run([str(each) for each in command], cwd=ROOT).returncode
    sys.path.insert(0, str(ROOT))
    import build_addon

    build_addon.mount().register()
    from sinew.blender_addon.translations import catalogue

    from . import interface_texts

    paths = catalogue.languages()
    if language is not None:
        paths.setdefault(language, catalogue.FOLDER / f"{language}.po")
    texts, problems = interface_texts.texts(), interface_texts.untranslatable()
    for source in problems:
        print(f"{source}\nUse translated() with placeholders instead of an f-string.")
    for name, path in paths.items():
        before = catalogue.entries(path.read_text(encoding="utf-8")) if path.exists() else {}
        write(path, name, texts, before)
        found = problems_of(texts, before)
        print("\n".join([f"{name}: {len(texts)} texts, {len(found)} to translate or to correct", *found]))
        problems += found
        for english in before.keys() - texts.keys():
            print(f"{name}: removed an unused text: {english!r} = {before[english]!r}")
    return 1 if problems else 0


def problems_of(texts: Iterable[str], translations: Mapping[str, str]) -> list[str]:
    """Return a line for each text without a translation, or with other placeholders in it."""
    from sinew.blender_addon.translations.catalogue import placeholders

    lines = []
    for english in texts:
        if not (other := translations.get(english)):
            lines.append(f"  not translated: {english!r}")
        elif placeholders(english) != placeholders(other):
            lines.append(f"  other placeholders: {english!r} = {other!r}")
    return lines


def write(path: Path, language: str, texts: Mapping[str, str], translations: Mapping[str, str]) -> None:
    """Write a catalogue of ``texts`` (text to its source) with the known translations; others are empty."""
    parts = [HEADER.format(language=language)]
    for english, source in texts.items():
        parts.append(f"#: {source}\nmsgid {_quoted(english)}\nmsgstr {_quoted(translations.get(english, ''))}\n")
    path.write_text("\n".join(parts), encoding="utf-8")


def _quoted(text: str) -> str:
    for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(character, escaped)
    return f'"{text}"'
