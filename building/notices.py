"""``THIRD_PARTY.md`` of a zip: bundled projects and their licences, from the wheels' metadata and licence texts."""

from __future__ import annotations

import email
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .project import BuildError

ADDED = Path(__file__).resolve().parent / "licences"
"""Folder with licence texts, ``LICENSE.PROJECT``, copied from the sources of projects whose wheels contain none."""
CLEARER = {"cvxopt": "GPL-3.0-or-later", "tetgen": "AGPL-3.0-or-later AND MIT"}
"""SPDX expressions, by project, for wheels whose metadata are less exact than their licence texts."""
_IS_TEXT = re.compile(r"(?i)(^|[-_.])(licen[cs]e|copying|notice)")
_HEAD = """# Third-party notices

Sinew itself is free software under the GNU General Public License, version 3 or later (`LICENSE`). This zip carries
the libraries below (`wheels/`), each as its authors have published it and under its own terms. Libraries inside a
library are named under “Carries”, from its bill of materials; their terms are among that library's texts.
"""


@dataclass(frozen=True)
class Notice:
    """Origin and licence of a wheel.

    Attributes
    ----------
    title : name and version
    licence : SPDX expression if ``is_expression``, else the licence in words
    home : address of the home page, or ""
    carried : names of the libraries inside the wheel, from its own bill of materials
    texts : licence texts, keyed by file name
    """

    title: str
    licence: str
    is_expression: bool
    home: str
    carried: tuple[str, ...]
    texts: dict[str, str]

    def facts(self) -> list[str]:
        """Return the lines that stand above the licence texts."""
        said = {"Licence": self.licence, "Home": self.home, "Carries": ", ".join(self.carried)}
        return [f"{key}: {value}" for key, value in said.items() if value]


def third_party(wheels: list[Path]) -> str:
    """Return the text of ``THIRD_PARTY.md`` for these wheels, with identical licence texts only once; raise BuildError
    if a wheel has no licence text.
    """
    entries: dict[str, tuple[list[str], dict[str, str]]] = {}
    for path in sorted(wheels):
        notice = read(path)
        entries.setdefault(notice.title, (notice.facts(), {}))[1].update(notice.texts)
    parts, shown = [_HEAD], {}
    for title, (facts, texts) in entries.items():
        parts.append(f"## {title}\n\n" + "".join(f"- {fact}\n" for fact in facts))
        for name, text in texts.items():
            where = shown.setdefault(text, title)
            is_new = where == title
            parts.append(f"### {name}\n\n" + (_fenced(text) if is_new else f"The same text as of {where}, above.\n"))
    return "\n".join(parts)


def _fenced(text: str) -> str:
    return f"~~~~~~~~text\n{text}\n~~~~~~~~\n"


def read(path: Path) -> Notice:
    """Return the notice of a wheel; raise BuildError if the wheel has no licence text."""
    with zipfile.ZipFile(path) as wheel:
        names = [name for name in wheel.namelist() if not name.endswith("/")]
        (info,) = [name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
        metadata = email.message_from_bytes(wheel.read(info))
        texts = {
            name.removeprefix(f"{PurePosixPath(info).parent}/"): wheel.read(name).decode("utf-8", "replace").strip()
            for name in names
            if _IS_TEXT.search(PurePosixPath(name).name) and PurePosixPath(name).suffix not in (".py", ".pyi", ".pyc")
        }
        bills = [json.loads(wheel.read(name)) for name in names if ".dist-info/sboms/" in name]
    project = path.name.partition("-")[0]
    if not texts and (ADDED / f"LICENSE.{project}").is_file():
        texts = {"LICENSE, from its sources": (ADDED / f"LICENSE.{project}").read_text(encoding="utf-8").strip()}
    if not texts:
        raise BuildError(
            f"{path.name} contains no licence text.\nPut the text from its sources into {ADDED.name}/LICENSE.{project}."
        )
    homes = dict(each.split(", ", 1) for each in metadata.get_all("Project-URL", []))
    home = metadata["Home-page"] or next(
        (homes[k] for k in homes if "home" in k.lower()), next(iter(homes.values()), "")
    )
    carried = sorted({each["name"] for bill in bills for each in bill["components"]} - {project})
    title, expression = f"{metadata['Name']} {metadata['Version']}", metadata["License-Expression"]
    expression = CLEARER.get(project) or expression
    return Notice(title, expression or _licence(metadata), bool(expression), home, tuple(carried), texts)


def _licence(metadata: email.message.Message) -> str:
    """Return the licence that the classifiers of the wheel's metadata name."""
    classifiers = [each for each in metadata.get_all("Classifier", []) if each.startswith("License ::")]
    named = ", ".join(each.rpartition(" :: ")[2] for each in classifiers)
    return named or "see the licence text"
