"""The story of a bake, read from its frames: how many iterations, which frames did not settle, where the time went."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .frame_store import FrameStore

SHOWN_RANGES = 6
"""Ranges of frames that a message names before it only counts the rest."""


@dataclass(frozen=True)
class FrameReport:
    """One frame: its steps, their iterations together and at most, whether all of them settled, and why they ended;
    the largest gradient norm at a step's end (kg m), seconds in all and by part, and the peak memory of the process so
    far (bytes; 0 unknown).
    """

    frame: int
    steps: int
    iterations: int
    most_iterations: int
    settled: bool
    reasons: tuple[str, ...]
    gradient_norm: float
    seconds: float
    parts: dict[str, float]
    peak_memory: int


@dataclass(frozen=True)
class BakeReport:
    """A bake: the method's name, the linear solver with the reason for it ("" unknown), the cap of iterations a step,
    and every frame but the first, at which the body is at rest.
    """

    solver: str
    linear_solver: str
    max_iterations: int
    frames: tuple[FrameReport, ...]

    @property
    def unsettled(self) -> list[int]:
        """Frames with a step that stopped before it settled."""
        return [frame.frame for frame in self.frames if not frame.settled]

    @property
    def worst(self) -> FrameReport | None:
        """The frame to look at first: the farthest from settled, or the one with the longest step."""
        if not self.frames:
            return None
        loose = [frame for frame in self.frames if not frame.settled]
        return max(loose, key=lambda f: f.gradient_norm) if loose else max(self.frames, key=lambda f: f.most_iterations)

    @property
    def seconds(self) -> float:
        """Of all frames."""
        return sum(frame.seconds for frame in self.frames)

    def parts(self) -> dict[str, float]:
        """Seconds by part of a step, the longest first."""
        total: dict[str, float] = {}
        for frame in self.frames:
            for part, seconds in frame.parts.items():
                total[part] = total.get(part, 0.0) + seconds
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def summary(self) -> list[str]:
        """A few lines that an artist reads."""
        if not self.frames:
            return ["Only the first frame is baked: no step was computed."]
        steps = sum(frame.steps for frame in self.frames)
        mean = sum(frame.iterations for frame in self.frames) / max(steps, 1)
        busiest = max(self.frames, key=lambda f: f.most_iterations)
        range_words = frame_words([frame.frame for frame in self.frames])
        lines = [
            f"{self.solver}, frames {range_words}, {steps} steps, {_time(self.seconds)}",
            f"Iterations a step: {mean:.1f} on average, {busiest.most_iterations} at most (frame {busiest.frame})",
            unsettled_words(self.unsettled) or "Every step settled.",
        ]
        if self.unsettled:
            lines.append(f"Worst frame: {self.worst.frame} ({'; '.join(self.worst.reasons)})")
        slowest = max(self.frames, key=lambda f: f.seconds)
        lines.append(f"Slowest frame: {slowest.frame} ({_time(slowest.seconds)})")
        parts = self.parts()
        total = sum(parts.values())
        if total > 0.0:
            shares = (f"{part_words(part)} {100.0 * seconds / total:.0f}%" for part, seconds in parts.items())
            lines.append(f"Time: {', '.join(shares)}")
        if self.linear_solver:
            lines.append(f"Linear solver: {self.linear_solver}")
        if peak := max(frame.peak_memory for frame in self.frames):
            lines.append(f"Memory: {peak / 1e9:.2f} GB at most")
        return lines

    def table(self) -> str:
        """Every frame as a line of text."""
        rows = [[_cell(value) for value in row] for row in self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
        lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[-1]]) for row in rows]
        return "\n".join([*self.summary(), "", *lines]) + "\n"

    def as_csv(self) -> str:
        """Every frame as a line of comma-separated values, seconds and SI units."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.rows())
        return text.getvalue()

    def rows(self) -> Iterator[list[Any]]:
        """The heading and a row a frame."""
        parts = list(self.parts())
        yield [
            "Frame",
            "Steps",
            "Iterations",
            "Most",
            "Settled",
            "Residual (kg m)",
            "Seconds",
            *(part_words(part).capitalize() for part in parts),
            "Why the steps ended",
        ]
        for f in self.frames:
            counts = [f.frame, f.steps, f.iterations, f.most_iterations, "yes" if f.settled else "NO"]
            times = [f.seconds, *(f.parts.get(part, 0.0) for part in parts)]
            yield [*counts, f.gradient_norm, *times, "; ".join(f.reasons)]


def read_report(store: FrameStore) -> BakeReport:
    """The report of a store's frames; StoreError where they cannot be read."""
    from ..solvers.registry import SOLVERS  # loads Numba, which an interface's start should not wait for

    settings = store.job().solver
    abouts = [(frame, store.about(frame)) for frame in store.frames()]
    frames = tuple(_frame_report(frame, about) for frame, about in abouts if about["reports"])
    last = abouts[-1][1]["reports"] if abouts else []
    known = SOLVERS.get(settings.solver)
    return BakeReport(
        solver=known.label if known is not None else settings.solver,
        linear_solver=str(last[-1].get("linear_solver", "")) if last else "",
        max_iterations=settings.max_iterations,
        frames=frames,
    )


def _frame_report(frame: int, about: dict[str, Any]) -> FrameReport:
    steps = about["reports"]
    iterations = [int(_number(step.get("iterations"))) for step in steps]
    parts: dict[str, float] = {}
    for step in steps:
        seconds = step.get("seconds")
        for part, value in seconds.items() if isinstance(seconds, dict) else ():
            parts[part] = parts.get(part, 0.0) + _number(value)
    reasons = dict.fromkeys(str(step.get("reason", "")) for step in steps if not step.get("converged"))
    return FrameReport(
        frame=frame,
        steps=len(steps),
        iterations=sum(iterations),
        most_iterations=max(iterations),
        settled=all(step.get("converged") is True for step in steps),
        reasons=tuple(reasons) or tuple(dict.fromkeys(str(step.get("reason", "")) for step in steps)),
        gradient_norm=max(_number(step.get("gradient_norm")) for step in steps),
        seconds=_number(about.get("seconds")) or sum(parts.values()),
        parts=parts,
        peak_memory=int(_number(about.get("peak_memory"))),
    )


def _number(value: Any) -> float:
    """A finite number from a file; 0 for anything else."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        return 0.0
    return float(value)


def unsettled_words(frames: Sequence[int]) -> str:
    """What to say of frames whose steps stopped before they settled; "" when there are none."""
    if not frames:
        return ""
    many = "s" if len(frames) > 1 else ""
    return f"Frame{many} {frame_words(frames)} did not settle: raise Substeps, or Iterations."


def frame_words(frames: Sequence[int]) -> str:
    """Ascending frame numbers in words: ``3-5, 9``."""
    ranges: list[list[int]] = []
    for frame in frames:
        if ranges and frame == ranges[-1][1] + 1:
            ranges[-1][1] = frame
        else:
            ranges.append([frame, frame])
    shown = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges[:SHOWN_RANGES])
    rest = sum(b - a + 1 for a, b in ranges[SHOWN_RANGES:])
    return f"{shown} and {rest} more" if rest else shown


def part_words(part: str) -> str:
    """A part of a step in words: ``line_search`` is "line search"."""
    return part.replace("_", " ")


def _time(seconds: float) -> str:
    if seconds < 60.0:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
