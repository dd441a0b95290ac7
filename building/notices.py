"""``THIRD_PARTY.md`` of a zip: bundled projects and their licences, from the wheels' metadata and licence texts."""

from __future__ import annotations

import email
import json
import re
import zipfile
from pathlib import Path, PurePosixPath

from .project import BuildError

ADDED = Path(__file__).resolve().parent / "licences"
"""Folder with licence texts, ``PROJECT.txt``, copied from the sources of projects whose wheels contain none."""
CLEARER = {"cvxopt": "GPL-3.0-or-later", "tetgen": "AGPL-3.0-or-later (TetGen), MIT (the package around it)"}
"""Licences, by project, for wheels whose metadata are less exact than their licence texts."""
_IS_TEXT = re.compile(r"(?i)(^|[-_.])(licen[cs]e|copying|notice)")
_HEAD = """# Third-party notices

Sinew itself is free software under the GNU General Public License, version 3 or later (`LICENSE`). This zip carries
the libraries below (`wheels/`), each as its authors have published it and under its own terms. Libraries inside a
library are named under “Carries”, from its bill of materials; their terms are among that library's texts.
"""


def third_party(wheels: list[Path]) -> str:
    """Return the text of ``THIRD_PARTY.md`` for these wheels, with identical licence texts only once; raise BuildError
    if a wheel has no licence text.
    """
    entries: dict[str, tuple[list[str], dict[str, str]]] = {}
    for path in sorted(wheels):
        title, facts, texts = _read(path)
        entries.setdefault(title, (facts, {}))[1].update(texts)
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


def _read(path: Path) -> tuple[str, list[str], dict[str, str]]:
    """Return three items of a wheel: its title (name and version); lines with its licence, home page and bundled
    libraries; and its licence texts, keyed by file name.
    """
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
    if not texts and (ADDED / f"{project}.txt").is_file():
        texts = {"LICENSE, from its sources": (ADDED / f"{project}.txt").read_text(encoding="utf-8").strip()}
    if not texts:
        raise BuildError(
            f"{path.name} contains no licence text.\nPut the text from its sources into {ADDED.name}/{project}.txt."
        )
    homes = dict(each.split(", ", 1) for each in metadata.get_all("Project-URL", []))
    home = metadata["Home-page"] or next(
        (homes[k] for k in homes if "home" in k.lower()), next(iter(homes.values()), "")
    )
    carried = sorted({each["name"] for bill in bills for each in bill["components"]} - {project})
    said = {"Licence": CLEARER.get(project) or _licence(metadata), "Home": home, "Carries": ", ".join(carried)}
    return f"{metadata['Name']} {metadata['Version']}", [f"{k}: {v}" for k, v in said.items() if v], texts


def _licence(metadata: email.message.Message) -> str:
    """Return the licence named by the wheel's metadata."""
    classifiers = [each for each in metadata.get_all("Classifier", []) if each.startswith("License ::")]
    named = ", ".join(each.rpartition(" :: ")[2] for each in classifiers)
    return metadata["License-Expression"] or named or "see the licence text"
