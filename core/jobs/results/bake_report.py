"""Report of a bake, read from its frames: iterations, convergence, and computing time per task."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...foundation.files.array_file import whole_file
from ...foundation.schema.solver_kinds import SOLVER_KINDS
from ...foundation.unit_words import length_words
from ...numerics.optimization.step_report import REDONE_BY
from ..checks.plausibility import scale_warnings
from ..store.frame_store import FrameStore

SHOWN_RANGES = 6
"""Maximum number of frame ranges listed in a message."""


CONTACTS, NEAREST = "Contacts", "Nearest (m)"
"""Headings of the columns of contact."""

MEANINGS = {
    "Iterations": "sum over all steps of the frame",
    "Converged": "yes if every step reached its stop criterion (Stop When)",
    "Still Moving": "largest displacement of a vertex in a step's last iteration",
    "Unbalanced (N)": "norm of the unbalanced forces at a step's end",
    CONTACTS: "largest number of contact pairs with a contact force at the end of a step",
    "Nearest": "smallest distance of surfaces in contact",
    "Assembly": "seconds for the forces and the stiffness of all tetrahedra",
    "Factorization": "seconds to factorize the matrix of the linear system, or its preconditioner",
    "Solve": "seconds to solve the linear system for the displacements",
    "Local": "seconds for the local steps of the tetrahedra",
    "Line search": "seconds to find the step length",
}
"""Meanings of the table's columns, by their headings."""

MOVING = "Still Moving (m)"
"""Heading of the column *Still Moving* in CSV files. In the text table, each value has the unit instead."""


LOST = 0.01
"""Fraction of the kinetic energy that ConJac's dynamic nodes lose in a step, from which a warning is given.

Dynamic nodes are the vertices that ConJac integrates in time. If a part of the body rotates by ten degrees in a step,
the nodes miss about this fraction of the part's energy."""

SEEN = 1e-4
"""Smallest visible displacement, relative to the body's size: a fifth of a pixel of a body 2,000 pixels across."""

REDONE = 0.1
"""Fraction of all steps above which a warning is given about steps with buckling, or steps that another integrator
recomputed."""


@dataclass(frozen=True)
class FrameReport:
    """Report of the steps of one frame, combined from their :class:`StepReport`.

    Attributes
    ----------
    steps, iterations, most_iterations : number of steps; sum and maximum of their numbers of iterations
    converged : True if all steps converged
    reasons : why the unconverged steps ended; if every step converged, why all steps ended
    movement, force : largest displacement of a vertex in the last iteration of a step, m, and largest unbalanced force,
        N; maxima over the unconverged steps, or over all steps if every step converged
    taken, lost, contacts : maxima, over the steps, of the fields of the same names in ``StepReport``: elastic energy
        removed by vibration matching, relative to the largest possible amount; fraction of the kinetic energy that
        dynamic nodes (vertices that ConJac integrates in time) cannot represent; number of active contact pairs
    redone : number of steps that were computed again by another integrator
    buckling : number of steps with ``StepReport.buckles``
    nearest : smallest distance of surfaces in contact, m; 0 without contact
    blocked, solved_with : all entries of ``StepReport.blocked_by`` and of ``StepReport.solved_with``
    seconds, parts : computing time, s, in total and by task
    peak_memory : largest memory of the process until then, bytes; 0 if unknown
    """

    frame: int
    steps: int
    iterations: int
    most_iterations: int
    converged: bool
    reasons: tuple[str, ...]
    movement: float
    force: float
    taken: float
    lost: float
    redone: int
    buckling: int
    contacts: int
    nearest: float
    blocked: tuple[tuple[str, str], ...]
    solved_with: tuple[str, ...]
    seconds: float
    parts: dict[str, float]
    peak_memory: int


@dataclass(frozen=True)
class BakeReport:
    """Report of all frames of a bake.

    Attributes
    ----------
    solver, linear_solver : name of the solver; linear solver with the reason for its choice, "" if unknown
    frames : reports of all frames except the first, which is not computed
    preparation : computing time before the first frame, s, by task
    warnings : warnings about a size that does not suit gravity or the time step
    remedy : advice to the user for steps that do not converge
    match : description of the match with a finer body, "" without a match
    size : size of the body, m
    """

    solver: str
    linear_solver: str
    frames: tuple[FrameReport, ...]
    preparation: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    remedy: str = "raise Substeps, or Iterations"
    match: str = ""
    size: float = 0.0

    @property
    def unconverged(self) -> list[int]:
        """Numbers of the frames in which a step did not converge."""
        return [frame.frame for frame in self.frames if not frame.converged]

    @property
    def worst(self) -> FrameReport | None:
        """Frame to inspect first, or None without frames.

        Among unconverged frames, this is the frame with the largest vertex displacement in the last iteration of a
        step. If all frames converged, this is the frame with the most iterations in a step."""
        if not self.frames:
            return None
        loose = [frame for frame in self.frames if not frame.converged]
        return (
            max(loose, key=lambda f: (f.movement, f.force))
            if loose
            else max(self.frames, key=lambda f: f.most_iterations)
        )

    @property
    def seconds(self) -> float:
        """Total computing time of all frames, s."""
        return sum(frame.seconds for frame in self.frames)

    def parts(self) -> dict[str, float]:
        """Return the computing time of all frames, s, by task of a step ("assembly", "solve", ...), longest first."""
        total: dict[str, float] = {}
        for frame in self.frames:
            for part, seconds in frame.parts.items():
                total[part] = total.get(part, 0.0) + seconds
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    def summary(self) -> list[str]:
        """Return the summary of the report as lines of text."""
        if not self.frames:
            return ["Only the first frame is baked: no step was computed."]
        steps = sum(frame.steps for frame in self.frames)
        mean = sum(frame.iterations for frame in self.frames) / max(steps, 1)
        busiest = max(self.frames, key=lambda f: f.most_iterations)
        range_words = frame_words([frame.frame for frame in self.frames])
        lines = [
            f"{self.solver}, frames {range_words}, {steps} steps, {_time(self.seconds)}",
            f"Iterations per step: {mean:.1f} on average, {busiest.most_iterations} at most (frame {busiest.frame})",
            self.unconverged_words() or "Every step converged.",
        ]
        if self.unconverged:
            lines.append(f"Worst frame: {self.worst.frame} ({'; '.join(self.worst.reasons)})")
        slowest = max(self.frames, key=lambda f: f.seconds)
        lines.append(f"Slowest frame: {slowest.frame} ({_time(slowest.seconds)})")
        parts = self.parts()
        total = sum(parts.values())
        if total > 0.0:
            shares = (f"{part_words(part)} {100.0 * seconds / total:.0f}%" for part, seconds in parts.items())
            lines.append(f"Time of the steps: {', '.join(shares)}")
        if self.preparation:
            spent = (f"{part_words(part)} {_time(seconds)}" for part, seconds in self.preparation.items())
            lines.append(f"Before the first frame: {', '.join(spent)}")
        if self.linear_solver:
            lines.append(f"Linear solver: {self.linear_solver}")
        if self.match:
            lines.append(f"Match: {self.match}")
        paragraphs = self.contact_words(), self.solved_with_words(), self.blocked_words(), self.match_words()
        lines += filter(None, (*paragraphs, self.lost_words(), self.of_steps_words()))
        if peak := max(frame.peak_memory for frame in self.frames):
            lines.append(f"Memory: {peak / 1e9:.2f} GB at most")
        return [*lines, *self.warnings]

    def unconverged_words(self) -> str:
        """Return the warning about unconverged frames, with the remedy, or ""."""
        frames = self.unconverged
        if not frames:
            return ""
        many = "s" if len(frames) > 1 else ""
        farthest = max(frame.movement for frame in self.frames if not frame.converged)
        missing = f" (last displacement {length_words(farthest)})" if farthest > 0.0 else ""
        return f"Frame{many} {frame_words(frames)} did not converge{missing}: {self.remedy}."

    def warning(self) -> str:
        """Return the warning about unconverged frames with a visible error, or "".

        The error is the largest vertex displacement in the last iteration of a step. An error is visible above SEEN
        times the body's size. An unknown error counts as visible."""
        short = [frame.movement for frame in self.frames if not frame.converged]
        is_seen = any(movement <= 0.0 or movement > SEEN * self.size for movement in short)
        return self.unconverged_words() if is_seen else ""

    def match_words(self) -> str:
        """Return a sentence about the elastic energy that vibration matching removes, or "".

        The energy is relative to the largest energy that matching can remove, and belongs to the frame with the largest
        ratio."""
        most = max(self.frames, key=lambda f: f.taken, default=None)
        if most is None or not most.taken:
            return ""
        return (
            f"The match lowers the elastic energy by up to {most.taken:.0%} of the largest possible amount "
            f"(frame {most.frame})."
        )

    def contact_words(self) -> str:
        """Return the largest number of contacts and the smallest distance in contact as text, or "" without contact."""
        most = max(self.frames, key=lambda f: f.contacts, default=None)
        if most is None or not most.contacts:
            return ""
        nearest = min(frame.nearest for frame in self.frames if frame.contacts)
        return f"Contacts: {most.contacts:,} at most (frame {most.frame}), smallest distance {length_words(nearest)}"

    def solved_with_words(self) -> str:
        """Return a sentence with the bodies that were solved in one system with this body, and the frames, or ""."""
        names = dict.fromkeys(name for frame in self.frames for name in frame.solved_with)
        if not names:
            return ""
        frames = frame_words([frame.frame for frame in self.frames if frame.solved_with])
        named = ", ".join(f"“{name}”" for name in names)
        return (
            f"In frames {frames} the body could touch {named}: all were solved as one system, and the iterations "
            "are those of this system."
        )

    def blocked_words(self) -> str:
        """Return a sentence with the pairs of objects that blocked each other, and the frames, or ""."""
        pairs = dict.fromkeys(pair for frame in self.frames for pair in frame.blocked)
        if not pairs:
            return ""
        frames = frame_words([frame.frame for frame in self.frames if frame.blocked])
        named = "; ".join(f"“{one}” and “{other}”" for one, other in pairs)
        return f"In frames {frames} pins or colliders were blocked on their paths: leave more room between {named}."

    def lost_words(self) -> str:
        """Return a warning about kinetic energy that dynamic nodes (vertices integrated in time) leave out, or "".

        A step must lose at least the fraction LOST."""
        most = max(self.frames, key=lambda f: f.lost, default=None)
        if most is None or most.lost < LOST:
            return ""
        return f"The nodes carry {1.0 - most.lost:.1%} of the motion (frame {most.frame}): add nodes or Substeps."

    def of_steps_words(self) -> str:
        """Return warnings about many recomputed steps and many steps with buckling, or "".

        Another integrator than the chosen one recomputes a step. Buckling happens between dynamic nodes (vertices
        integrated in time). The limit is the fraction REDONE of all steps."""
        redone, buckling = sum(f.redone for f in self.frames), sum(f.buckling for f in self.frames)
        steps, said = sum(f.steps for f in self.frames), []
        if redone > REDONE * steps:
            said.append(f"{redone} of {steps} steps were recomputed by BDF2 or Implicit Euler: raise Substeps.")
        if buckling > REDONE * steps:
            said.append(
                f"In {buckling} of {steps} steps the body buckled between its nodes. The motion is too stiff where it "
                "buckled: add nodes there, or use Mixed FEM."
            )
        return " ".join(said)

    def table(self) -> str:
        """Return the summary, a table with one line per frame, and the meanings of its columns, as text."""
        heading, *values = self.rows()
        for k, name in enumerate(heading):
            if name in (MOVING, NEAREST):
                heading[k] = name.removesuffix(" (m)")
                for row in values:
                    row[k] = length_words(row[k]) if row[k] else "0"
        rows = [[_cell(value) for value in row] for row in (heading, *values)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]) - 1)]
        lines = ["  ".join([*(cell.rjust(w) for cell, w in zip(row, widths)), row[-1]]) for row in rows]
        meanings = [f"{word}: {MEANINGS[word]}" for word in heading if word in MEANINGS]
        return "\n".join([*self.summary(), "", *lines, "", *meanings]) + "\n"

    @property
    def touches(self) -> bool:
        """True if there is contact in any frame."""
        return any(frame.contacts for frame in self.frames)

    def rows(self, parts: Sequence[str] | None = None, touches: bool = False) -> Iterator[list[Any]]:
        """Yield the table of the report: the headings, then one row per frame.

        ``parts``: tasks of a step whose times have a column, all by default.
        ``touches``: True for columns of contact even without contact."""
        parts, touches = list(self.parts()) if parts is None else parts, touches or self.touches
        yield [
            "Frame",
            "Steps",
            "Iterations",
            "Most in a Step",
            "Converged",
            MOVING,
            "Unbalanced (N)",
            *([CONTACTS, NEAREST] if touches else []),
            "Seconds",
            *(part_words(part).capitalize() for part in parts),
            "Why the steps ended",
        ]
        for f in self.frames:
            counts = [f.frame, f.steps, f.iterations, f.most_iterations, "yes" if f.converged else "NO"]
            times = [f.seconds, *(f.parts.get(part, 0.0) for part in parts)]
            met = [f.contacts, f.nearest] if touches else []
            yield [*counts, f.movement, f.force, *met, *times, "; ".join(f.reasons)]


def csv_of(reports: Mapping[str, BakeReport]) -> str:
    """Return the reports of several bakes as one CSV table in SI units, with one row per body and frame.

    ``reports``: reports by body name."""
    parts = list(dict.fromkeys(part for report in reports.values() for part in report.parts()))
    touches = any(report.touches for report in reports.values())
    tables = {name: list(report.rows(parts, touches)) for name, report in reports.items()}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(["Body", *rows[0]] for rows in list(tables.values())[:1])
    writer.writerows([name, *row] for name, rows in tables.items() for row in rows[1:])
    return text.getvalue()


def write_report(path: Path, text: str) -> None:
    """Write the text of a report to a file. Raises StoreError if the file cannot be written."""
    with whole_file(path) as file:
        file.write(text.encode())


def read_report(store: FrameStore) -> BakeReport:
    """Return the report of the bake in a store. Raises StoreError if its frames cannot be read."""
    job = store.job()
    abouts = [(frame, store.about(frame)) for frame in store.frames()]
    frames = tuple(_frame_report(frame, about) for frame, about in abouts if about["reports"])
    last = abouts[-1][1]["reports"] if abouts else []
    known = SOLVER_KINDS.get(job.body.solver.solver)
    return BakeReport(
        solver=known.label if known is not None else job.body.solver.solver,
        linear_solver=str(last[-1].get("linear_solver", "")) if last else "",
        frames=frames,
        preparation=store.preparation(),
        warnings=tuple(scale_warnings(job)),
        remedy=known.remedy if known is not None else BakeReport.remedy,
        match=store.match(),
        size=job.body.surface.size,
    )


def _frame_report(frame: int, about: dict[str, Any]) -> FrameReport:
    steps = about["reports"]
    iterations = [int(_number(step.get("iterations"))) for step in steps]
    parts: dict[str, float] = {}
    for step in steps:
        seconds = step.get("seconds")
        for part, value in seconds.items() if isinstance(seconds, dict) else ():
            parts[part] = parts.get(part, 0.0) + _number(value)
    loose = [step for step in steps if step.get("converged") is not True]
    reasons = dict.fromkeys(str(step.get("reason", "")) for step in loose or steps)
    return FrameReport(
        frame=frame,
        steps=len(steps),
        iterations=sum(iterations),
        most_iterations=max(iterations),
        converged=not loose,
        reasons=tuple(reasons),
        movement=max(_number(step.get("movement")) for step in loose or steps),
        force=max(_number(step.get("force")) for step in loose or steps),
        taken=max(_number(step.get("taken")) for step in steps),
        lost=max(_number(step.get("lost")) for step in steps),
        redone=sum(REDONE_BY in str(step.get("reason", "")) for step in steps),
        buckling=sum(step.get("buckles") is True for step in steps),
        contacts=max(int(_number(step.get("contacts"))) for step in steps),
        nearest=min((_number(step.get("distance")) for step in steps if step.get("contacts")), default=0.0),
        solved_with=tuple(dict.fromkeys(name for step in steps for name in _names(step.get("solved_with")))),
        blocked=tuple(dict.fromkeys(pair for step in steps for pair in _pairs(step.get("blocked_by")))),
        seconds=_number(about.get("seconds")) or sum(parts.values()),
        parts=parts,
        peak_memory=int(_number(about.get("peak_memory"))),
    )


def _number(value: Any) -> float:
    """Return a value from a file as a float, or 0 unless it is a finite number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        return 0.0
    return float(value)


def _pairs(value: Any) -> list[tuple[str, str]]:
    """Return the valid pairs of names in a value from a file."""
    pairs = value if isinstance(value, list) else []
    return [(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, (list, tuple)) and len(pair) == 2]


def _names(value: Any) -> list[str]:
    """Return the names in a value from a file, or [] unless it is a list."""
    return [str(name) for name in value] if isinstance(value, list) else []


def frame_words(frames: Sequence[int]) -> str:
    """Return ascending frame numbers as text: ``3-5, 9``."""
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
    """Return the name of a task of a step as text: "line search" for ``line_search``."""
    return part.replace("_", " ")


def _time(seconds: float) -> str:
    if seconds < 60.0:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
