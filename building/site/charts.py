"""``build_addon.py charts``: bar charts as SVG from the tables of ``docs/benchmarks``, shown by ``charts.md`` there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ..project import ROOT

BENCHMARKS = ROOT / "docs" / "benchmarks"
FOLDER = BENCHMARKS / "charts"
COLOURS = ("#c2505c", "#4c8bb5", "#8a8f98")
"""Colours of the series, legible on white and on black."""
WIDTH, LABELS, TOP, BAR = 460, 205, 52, 20
"""Width of a chart, of its labels, and height of its legend and of a bar; legible on a phone, px."""

Bars = list[tuple[str, list[float]]]


@dataclass(frozen=True)
class Chart:
    """Horizontal bars from a table below ``heading`` of ``page``; ``table`` counts from 0.

    ``rows`` maps the first cell of a row, or the heading of a column if ``transposed``, to the label of its bars.
    ``columns`` maps a heading, or the first cell of a row, to the name of its series. ``part`` selects a part of cells
    such as ``time; error``.
    """

    page: str
    heading: str
    unit: str
    rows: Mapping[str, str]
    columns: Mapping[str, str]
    table: int = 0
    part: int = 0
    transposed: bool = False

    def bars(self) -> Bars:
        """Return the labels and the values of each series."""
        table = read_table((BENCHMARKS / self.page).read_text(encoding="utf-8"), self.heading, self.table)
        if self.transposed:
            table = [list(column) for column in zip(*table)]
        places = [table[0].index(column) for column in self.columns]
        found = {row[0]: [number(row[place].split(";")[self.part]) for place in places] for row in table[1:]}
        return [(label, found[row]) for row, label in self.rows.items()]


_RIVALS = {
    "Ours, 1 step a frame": "Sinew, 1 step a frame",
    "[IPC20], 1 step, `eps_d` 1e-2": "IPC 2020, 1 step",
    "MuJoCo 4.0.0, 1 step": "MuJoCo 4.0.0, 1 step",
    "Newton 1.8.0 (VBD), 1 step": "Newton 1.8.0 (VBD), 1 step",
    "Blender's Soft Body, 20 steps": "Blender's Soft Body, 20 steps",
}
_RIVAL_SCENES = {"jelly 20k": "jelly", "slabs 20k": "slabs"}
CHARTS = {
    "contrast": Chart(
        "mixed_fem.md",
        "Start at the inertial prediction",
        "iterations a step",
        {"1": "contrast 1", "1e3": "1,000", "1e6": "1e6", "1e10": "1e10"},
        {"Mixed FEM (bar 15)": "Mixed FEM", "Newton": "Newton"},
        table=2,
        transposed=True,
    ),
    "rivals_error": Chart("large.md", "Rivals", "error, % of the scene's size", _RIVALS, _RIVAL_SCENES, part=1),
    "rivals_time": Chart("large.md", "Rivals", "time over Sinew's", _RIVALS, _RIVAL_SCENES),
    "linear_solvers": Chart(
        "large.md",
        "A step with conjugate gradients",
        "time of the direct solver over that of conjugate gradients",
        {
            "jelly, a block below an anvil, 3e4 and 1e9 Pa": "jelly below an anvil",
            "two boxes": "two boxes",
            "slabs, 1e5 and 1e8 Pa": "slabs",
            "hand with bones, at rest, 3e4 and 1e9 Pa": "hand with bones",
            "pile of ten boxes": "pile of ten boxes",
            "hairpin in self-contact": "hairpin in self-contact",
        },
        {"20,000": "20,000 tetrahedra", "100,000": "100,000"},
    ),
    "subspace": Chart(
        "subspace.md",
        "Speed",
        "ms a frame",
        {"full space": "full space", "8 modes": "8 modes", "16": "16 modes", "32": "32 modes", "48": "48 modes"},
        {"ms a frame": "head of 20,000 tetrahedra"},
        table=2,
        transposed=True,
    ),
    "eigenfit": Chart(
        "eigenfit.md",
        "Subspaces, pushed and twisted",
        "error in 16 modes, % of the amplitude",
        {name: name for name in ("bar", "Suzanne, 16 cells", "arm", "armadillo", "plate", "boat (test data)")},
        {"plain": "without a match", "fitted": "matched"},
    ),
}


def read_table(text: str, heading: str, index: int) -> list[list[str]]:
    """Return the cells of a table below the heading that begins with ``heading``, without marks for bold."""
    section = re.split(rf"^## {re.escape(heading)}", text, flags=re.MULTILINE)[1]
    lines = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[index].splitlines()
    rows = [[cell.strip().replace("**", "") for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if not set("".join(row)) <= set("-:")]


def number(cell: str) -> float:
    """Return the last number of a cell, such as the value for the most modes, or the middle of a range."""
    numbers = [float(each) for each in re.findall(r"\d[\d.]*(?:e-?\d+)?", cell)]
    return sum(numbers[-2:]) / 2.0 if " to " in cell else numbers[-1]


def svg(bars: Bars, series: Sequence[str], unit: str) -> str:
    """Return horizontal bars with values as the text of an SVG file."""
    scale = (WIDTH - LABELS - 45) / max(value for _, values in bars for value in values)
    group = BAR * len(series) + 10
    height = TOP + group * len(bars)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" class="chart" role="img" '
        'font-family="sans-serif" font-size="14" fill="currentColor">',
        "<style>svg { color: #24292f } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }</style>",
        f"<title>{escape(unit)}</title>",
    ]
    x = 0.0
    for name, colour in zip(series, COLOURS):
        out.append(f'<rect x="{x:.0f}" y="4" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 18:.0f}" y="15">{escape(name)}</text>')
        x += 40 + 8 * len(name)
    out.append(f'<text x="0" y="38" opacity="0.75">{escape(unit)}</text>')
    for k, (label, values) in enumerate(bars):
        top = TOP + k * group
        middle = top + BAR * len(series) / 2 + 4
        out.append(f'<text x="{LABELS - 10}" y="{middle:.0f}" text-anchor="end">{escape(label)}</text>')
        for j, value in enumerate(values):
            y, length = top + j * BAR, max(value * scale, 1.5)
            colour = COLOURS[j]
            out.append(f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR - 3}" fill="{colour}"/>')
            out.append(f'<text x="{LABELS + length + 6:.1f}" y="{y + 13}">{value:g}</text>')
    return "\n".join([*out, "</svg>", ""])


def draw() -> dict[str, str]:
    """Return the text of each chart by the name of its file."""
    return {
        f"{name}.svg": svg(chart.bars(), list(chart.columns.values()), chart.unit) for name, chart in CHARTS.items()
    }


def run() -> int:
    """Write the charts; return 0."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in draw().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print((FOLDER / name).relative_to(ROOT))
    return 0
