"""Links of the manual and the README lead somewhere, every page is in its index, pictures are shown and small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "manual"
PAGES = sorted(MANUAL.glob("*.md"))
README = MANUAL.parents[1] / "README.md"
LARGEST = {".png": 200_000, ".jpg": 200_000, ".webp": 3_000_000}
"""Bytes of a picture, and of the film."""


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    missing = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / link).exists()]
    assert not missing


def test_the_index_names_every_page():
    index = (MANUAL / "README.md").read_text(encoding="utf-8")
    assert not [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index]


def test_every_picture_is_shown_and_small():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    beginning = "".join(README.read_text(encoding="utf-8").partition("## ")[0])
    shown = re.findall(r"\(docs/manual/(pictures/[^)]+)\)", beginning)
    assert [Path(name).suffix for name in shown].count(".webp") == 1 and len(shown) == 4
    text += "".join(f"({name})" for name in shown)
    pictures = sorted((MANUAL / "pictures").glob("*"))
    assert len(pictures) >= 10
    for picture in pictures:
        assert f"(pictures/{picture.name})" in text and picture.stat().st_size < LARGEST[picture.suffix], picture.name
    for picture in pictures:
        with Image.open(picture) as image:
            is_render = picture.suffix == ".jpg"
            assert (picture.suffix == ".webp") == getattr(image, "is_animated", False)
            assert not is_render or (image.mode == "RGB" and image.width >= 960 and image.height >= 720), picture.name
