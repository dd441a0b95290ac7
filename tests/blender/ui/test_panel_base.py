"""Texts in panels are broken into lines that fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from sinew import ui
from sinew.ui.panel_base import lines_of


@pytest.mark.parametrize(
    "text, lines",
    [
        ("short", ["short"]),
        ("ten letter words", ["ten letter", "words"]),
        ("a b c d e f g", ["a b c d e", "f g"]),
        ("incomprehensible it is", ["incomprehensible", "it is"]),
        ("ベイクしたフレーム，横に", ["ベイクしたフレーム，", "横に"]),
        ("Disk Cache: //cache/scene/Body-12", ["Disk", "Cache: //", "cache/", "scene/", "Body-12"]),
    ],
)
def test_lines_break_at_spaces_slashes_and_letters_of_japanese(text, lines):
    assert lines_of(text, 10, len) == lines


def test_every_subject_is_shown():
    subjects = {path.stem for path in Path(ui.__file__).parent.glob("*.py") if "@panel(" in path.read_text("utf-8")}
    assert subjects <= set(ui.ORDER.split())
