"""Hooks of MkDocs: pages of the repository outside ``docs/``, lists as GitHub reads them, equations as MathML,
charts inside their page, clips and downloads of examples.

MkDocs loads this file by itself, so it imports only its neighbour.
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import clips
import latex2mathml.converter
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PROJECT_PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "README.md": "project/repository.md",
}
"""Pages of the site by their path in the repository; all others are in ``docs``."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
_ITEM = re.compile(r"(?:[-*+]|\d+\.) ")
_CHART = re.compile(r'<img [^>]*src="charts/([^"]+)"[^>]*>')
_EQUATION = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.S)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the repository that are outside ``docs``, and the clips and downloads of the gallery."""
    for path, page in PROJECT_PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text(encoding="utf-8")))
    for page, source in clips.files().items():
        files.append(File.generated(config, page, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Relink a page, separate its lists from paragraphs, and link the downloads of the gallery."""
    sources = {target: path for path, target in PROJECT_PAGES.items()}
    path = page.file.src_uri
    text = separate_lists(relink(markdown, sources.get(path, f"docs/{path}"), path))
    return clips.add_downloads(text) if path == "manual/examples.md" else text


def relink(markdown: str, source: str, page: str) -> str:
    """Return the text of ``source``, a path in the repository, with links that are right in ``page``, a path in the
    site. Links to files that are not in the site become text."""

    def replace(match: re.Match[str]) -> str:
        image, text, target, anchor = match.groups()
        text = _LINK.sub(replace, text)
        path = os.path.normpath(os.path.join(os.path.dirname(source), target))
        if path not in PROJECT_PAGES and not path.startswith("docs/"):
            return text
        there = PROJECT_PAGES.get(path) or path.removeprefix("docs/")
        return f"{image}[{text}]({os.path.relpath(there, os.path.dirname(page) or '.')}{anchor or ''})"

    return _LINK.sub(replace, markdown)


def separate_lists(markdown: str) -> str:
    """Return the text with an empty line before each list that follows a paragraph directly."""
    lines: list[str] = []
    is_code, is_list = False, False
    for line in markdown.split("\n"):
        is_code ^= line.lstrip().startswith("```")
        is_item = not is_code and bool(_ITEM.match(line))
        if is_item and not is_list and lines and lines[-1].strip():
            lines.append("")
        is_list = is_item or (is_list and bool(line.strip()))
        lines.append(line)
    return "\n".join(lines)


def on_page_content(html: str, **_: Any) -> str:
    """Convert the equations of a page to MathML, insert its charts, whose text has the colour of the page then, and
    show clips.
    """
    return clips.show_clips(_CHART.sub(_chart, _EQUATION.sub(_mathml, html)))


def _chart(match: re.Match[str]) -> str:
    text = (ROOT / "docs" / "benchmarks" / "charts" / match[1]).read_text(encoding="utf-8")
    return re.sub(r"<style>.*?</style>\n", "", text)


def _mathml(match: re.Match[str]) -> str:
    display = "block" if match[1] == "div" else "inline"
    return latex2mathml.converter.convert(unescape(match[2]), display=display)
