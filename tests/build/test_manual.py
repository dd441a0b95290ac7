"""Links, images and code of the documentation are right, every page is in its index, pictures are shown and small."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from pathlib import Path

import pytest
from PIL import Image

import build_addon

build_addon.load_building()
charts, clips = (importlib.import_module(f"sinew_building.site.{name}") for name in ("charts", "clips"))

ROOT = Path(__file__).resolve().parents[2]
DOCS, MANUAL, README = ROOT / "docs", ROOT / "docs" / "manual", ROOT / "README.md"
PAGES = sorted(MANUAL.glob("*.md"))
LARGEST = {".png": 200_000, ".jpg": 200_000, ".webp": 3_000_000}
"""Bytes of a picture, and of the film."""


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]), ids=lambda page: page.stem)
def test_links_and_code_are_right(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    for language, code in blocks:
        {"python": ast.parse, "toml": tomllib.loads}.get(language, str)(code)
    assert text.count("\n```") + text.startswith("```") == 2 * len(blocks)
    targets = [(path, anchor) for path, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", text) if path or anchor]
    missing = [path for path, _ in targets if not (page.parent / path).exists()]
    wrong = [
        (path, anchor)
        for path, anchor in targets
        if anchor and anchor not in anchors(page.parent / path if path else page)
    ]
    assert not missing and not wrong


def anchors(page):
    """Anchors of the headings of a page, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-") for heading in headings}


def test_the_site_has_every_page_and_every_chart_is_of_its_table():
    listed = re.findall(r": (\S+\.md)$|- (\S+\.md)$", (ROOT / "building/site/mkdocs.yml").read_text(), re.M)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"listing/page.md"}
    assert {a or b for a, b in listed if not (a or b).startswith("project/")} == pages
    drawn = charts.draw()
    shown = (charts.BENCHMARKS / "charts.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in charts.FOLDER.iterdir()) == sorted(drawn)
    for name, text in drawn.items():
        assert (charts.FOLDER / name).read_text(encoding="utf-8") == text, "run build_addon.py charts"
        assert f"(charts/{name})" in shown


def test_the_gallery_shows_every_example():
    sources = {path.stem: path.read_text() for path in (ROOT / "blender_addon/examples").rglob("*.py")}
    labels = {name: label[1] for name in sources if (label := re.search(r'^LABEL = "(.*)"$', sources[name], re.M))}
    gallery = (MANUAL / "examples.md").read_text(encoding="utf-8")
    assert len(labels) == 22 and sorted(re.findall(r"\| \*\*(.*?)\*\*", gallery)) == sorted(labels.values())
    assert set(re.findall(r'^    "(\w+)": Shot', (MANUAL / "render_examples.py").read_text(), re.M)) == set(labels)


def test_the_site_shows_clips_and_downloads_that_exist(monkeypatch, tmp_path):
    monkeypatch.setattr(clips, "GALLERY", tmp_path)
    gallery = (MANUAL / "examples.md").read_text(encoding="utf-8")
    still = '<img alt="A {0}" src="manual/pictures/example-{0}.jpg" />'
    bear, face = still.format("jelly-bear"), still.format("six-muscle-face")
    assert not clips.files() and clips.add_downloads(gallery) == gallery and clips.show_clips(bear) == bear
    assert 'src="manual/pictures/example-six-muscle-face.webp"' in clips.show_clips(face)
    for name in [*re.findall(r"example-([\w-]+)\.jpg", gallery), "log"]:
        (tmp_path / name).with_suffix(".txt" if name == "log" else ".webp").touch()
    (tmp_path / "jelly-bear.blend").write_bytes(bytes(2_100_000))
    assert len(clips.files()) == 23 and clips.files()["manual/gallery/jelly-bear.blend"].is_file()
    (line,) = set(clips.add_downloads(gallery).splitlines()) - set(gallery.splitlines())
    assert "Bear**" in line and line.endswith(". [Download .blend](gallery/jelly-bear.blend) (2.1 MB) |")
    shown = clips.show_clips(bear)
    assert 'alt="A jelly-bear" src="manual/gallery/jelly-bear.webp"' in shown
    assert 'reduce)" srcset="manual/pictures/example-jelly-bear.jpg"' in shown


def test_the_index_names_every_page():
    index = (MANUAL / "README.md").read_text(encoding="utf-8")
    assert not [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index]


def test_every_picture_is_shown_and_small():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    beginning = "".join(README.read_text(encoding="utf-8").partition("## ")[0])
    shown = re.findall(r"\(docs/manual/(pictures/[^)]+)\)", beginning)
    assert [Path(name).suffix for name in shown].count(".webp") == 1 and len(shown) == 4
    text += "".join(f"({name})" for name in shown)
    text += (DOCS / "README.md").read_text(encoding="utf-8").replace("(manual/", "(")
    pictures = sorted((MANUAL / "pictures").glob("*"))
    assert len(pictures) >= 10
    assert sum(picture.stat().st_size for picture in pictures if picture.match("example-*.webp")) < 600_000
    for picture in pictures:
        assert f"(pictures/{picture.name})" in text and picture.stat().st_size < LARGEST[picture.suffix], picture.name
    for picture in pictures:
        with Image.open(picture) as image:
            is_render = picture.suffix == ".jpg"
            assert (picture.suffix == ".webp") == getattr(image, "is_animated", False)
            assert not is_render or (image.mode == "RGB" and image.width >= 960 and image.height >= 720), picture.name
