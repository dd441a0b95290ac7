"""Clips and baked .blend files of the examples, shown by the site in place of stills where they exist.

``build_addon.py gallery`` makes them in ``out/gallery``; the clips of the landing page are in ``docs/manual/pictures``.
MkDocs imports this file without its package.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "manual" / "pictures"
GALLERY = ROOT / "out" / "gallery"
URL = "manual/gallery"
"""Folder of the site for the files of :data:`GALLERY`."""

_ROW = re.compile(r"^(\| !\[[^\]]*\]\(pictures/example-([\w-]+)\.jpg\) \| .*) \|$", re.M)
_IMAGE = re.compile(r'<img alt="([^"]*)" src="([\w./]*)pictures/example-([\w-]+)\.(?:jpg|webp)"[^>]*>')


def files() -> dict[str, Path]:
    """Return the files of the gallery by their path in the site."""
    return {f"{URL}/{path.name}": path for path in sorted(GALLERY.glob("*")) if path.suffix in (".webp", ".blend")}


def add_downloads(markdown: str) -> str:
    """Return the gallery page with a link to the baked .blend file in each row that has one."""

    def replace(match: re.Match[str]) -> str:
        path = GALLERY / f"{match[2]}.blend"
        if not path.is_file():
            return match[0]
        return f"{match[1]}. [Download .blend]({Path(URL).name}/{path.name}) ({path.stat().st_size / 1e6:.1f} MB) |"

    return _ROW.sub(replace, markdown)


def show_clips(html: str) -> str:
    """Return a page with clips in place of stills. Readers who ask for reduced motion see the stills."""
    return _IMAGE.sub(_clip, html)


def _clip(match: re.Match[str]) -> str:
    text, manual, name = match.groups()
    still = f"{manual}pictures/example-{name}.jpg"
    if (GALLERY / f"{name}.webp").is_file():
        clip = f"{manual}{Path(URL).name}/{name}.webp"
    elif (PICTURES / f"example-{name}.webp").is_file():
        clip = f"{manual}pictures/example-{name}.webp"
    else:
        return match[0]
    source = f'<source media="(prefers-reduced-motion: reduce)" srcset="{still}">'
    image = f'<img alt="{text}" src="{clip}" width="480" height="360" loading="lazy">'
    return f"<picture>{source}{image}</picture>"
