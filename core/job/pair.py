"""What is told of two that meet, a body and another or what it runs into, and goes before what follows from each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import SettingsError
from ..setting_fields import check_ranges, number, words_of

if TYPE_CHECKING:
    from .job import Job


@dataclass(frozen=True)
class PairSettings:
    """What a body tells of itself and an ``other`` body, collider or ground, by its name; None for what follows from
    each of them. Of a ground the distance is no less than its own.

    One of two bodies tells it, or both the same.
    """

    other: str
    friction: float | None = number(
        None, 0.0, 10.0, "", "Coulomb's coefficient between the two, no unit: ice 0.05, wood 0.4, rubber 1"
    )
    thickness: float | None = number(
        None, 0.0, 10.0, "m", "How far the two keep from each other, m; 0 for as near as can be", "distance"
    )

    def __post_init__(self) -> None:
        check_ranges(self, SettingsError, f"The pair with “{words_of(self.other)}”")
        if not self.other:
            raise SettingsError("A pair names nobody.", "Name the other body or collider, or remove the pair.")

    @property
    def name(self) -> str:
        """For messages."""
        return f"pair with {self.other}"

    @property
    def told(self) -> dict[str, float]:
        """What is told, by its name."""
        both = {"friction": self.friction, "thickness": self.thickness}
        return {name: value for name, value in both.items() if value is not None}


def check_pairs(jobs: Sequence[Job]) -> None:
    """SettingsError where two of bodies that meet, a job each, tell different things of each other."""
    told = {(job.body.name, pair.other): pair.told for job in jobs for pair in job.body.pairs}
    for (one, other), ours in told.items():
        theirs = told.get((other, one), {})
        for what in (name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]):
            label = "distance" if what == "thickness" else what
            raise SettingsError(
                f"“{one}” and “{other}” tell different things of each other: a {label} of {ours[what]:g} and of "
                f"{theirs[what]:g}.",
                "Tell it at one of the two, under Collisions > Pairs.",
            )


def pair_warnings(jobs: Sequence[Job]) -> list[str]:
    """Sentences, each with a remedy, about pairs of bodies that are baked together, a job each, that never meet."""
    return [
        f"“{job.body.name}” has a pair with “{name}”, which it neither meets nor runs into, so it does nothing: "
        "remove the pair, or let the two meet."
        for job in jobs
        for name in _missing(job)
    ]


def _missing(job: Job) -> Iterator[str]:
    body = job.body
    met = body.met if body.met is not None else [fellow.name for fellow in body.fellows]
    there = {*met, *(each.name for each in body.colliders)}
    return (pair.other for pair in body.pairs if pair.other not in there)
