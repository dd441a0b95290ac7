"""The manual's links lead somewhere, every page is in its index, and its pictures are shown and small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

MANUAL = Path(__file__).resolve().parents[2] / "docs" / "manual"
PAGES = sorted(MANUAL.glob("*.md"))
LARGEST = 200_000
"""Bytes of a picture."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    missing = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / link).exists()]
    assert not missing


def test_the_index_names_every_page():
    index = (MANUAL / "README.md").read_text(encoding="utf-8")
    assert not [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index]


def test_every_picture_is_shown_and_small():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted((MANUAL / "pictures").glob("*"))
    assert len(pictures) >= 10
    for picture in pictures:
        assert f"(pictures/{picture.name})" in text and picture.stat().st_size < LARGEST, picture.name
