"""Extension repository: the zips, the index that Blender reads, and a page with links to drag into Blender.

Blender's own tool checks the zips and writes the index. It is run from the files of bpy, which have no executable
``blender``; ``blender --command extension`` calls the same tool.
"""

from __future__ import annotations

import html
import json
import urllib.parse
from pathlib import Path
from typing import Any

from .. import environments
from ..project import BuildError

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{name} {version}</title></head>
<body>
<h1>{name} {version}</h1>
<p>{tagline}.</p>
<p>Drag the link of your platform and Python into a Blender window. Blender 4.2 to 5.0 has Python 3.11, newer versions
have Python 3.13. Blender then adds this repository and offers updates.</p>
<table>
{rows}
</table>
</body>
</html>
"""


def make(zips: list[Path]) -> None:
    """Validate the zips, which are in one folder, and write ``index.json`` and ``index.html`` beside them."""
    for path in zips:
        validate(path)
    folder = zips[0].parent
    _extension("server-generate", f"--repo-dir={folder}")
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    entries = sorted(index["data"], key=lambda entry: entry["archive_url"])  # Blender's order is the file system's
    if len(entries) != len(zips):
        raise BuildError(f"Blender lists {len(entries)} of {len(zips)} zips.\nSee the messages above.")
    text = json.dumps({**index, "data": entries}, indent=2)
    (folder / "index.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    (folder / "index.html").write_text(_page(entries), encoding="utf-8", newline="\n")


def validate(path: Path) -> None:
    """Raise BuildError if Blender finds an error in a zip."""
    _extension("validate", str(path))


def _extension(*arguments: str) -> None:
    python = environments.python_of("release")
    (tool,) = environments.folder("release").glob(
        "lib/python*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"
    )
    said = environments.run_quietly([str(python), str(tool), *arguments], "Blender refuses the extension")
    if "warn" in said.lower() or "error" in said.lower():
        raise BuildError(f"Blender's tool for extensions reports:\n{said}")


def _page(entries: list[dict[str, Any]]) -> str:
    """Return the page of the repository. Blender reads the query of a link that is dragged into its window."""
    rows = []
    for entry in entries:
        platform, python = entry["platforms"][0], entry["python_versions"][0]
        query = {"repository": "./index.json", "blender_version_min": entry["blender_version_min"]}
        query |= {"platforms": platform, "python_versions": python}
        link = html.escape(f"{entry['archive_url']}?{urllib.parse.urlencode(query)}")
        size = f"{entry['archive_size'] / 1e6:.0f} MB"
        rows.append(f'<tr><td><a href="{link}">{platform}</a></td><td>Python {python}</td><td>{size}</td></tr>')
    own = entries[0]
    words = {key: html.escape(own[key]) for key in ("name", "version", "tagline")}
    return PAGE.format(**words, rows="\n".join(rows))
