"""Contact settings of a pair: a body and another body or collider. They override the settings of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...foundation.errors import SettingsError
from ...foundation.schema.setting_fields import check_ranges, number, words_of

if TYPE_CHECKING:
    from .job import Job


@dataclass(frozen=True)
class PairSettings:
    """Contact settings of a body with an ``other`` body, collider or ground, by its name.

    None keeps the value that follows from the two. The distance to a ground is at least the ground's own. One of two
    bodies sets the pair, or both set it equally.
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
        """Name for messages."""
        return f"pair with {self.other}"

    @property
    def told(self) -> dict[str, float]:
        """The values that are set, by name."""
        both = {"friction": self.friction, "thickness": self.thickness}
        return {name: value for name, value in both.items() if value is not None}


def check_pairs(jobs: Sequence[Job]) -> None:
    """Raise SettingsError if colliding bodies, a job each, set different values for each other."""
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
    """Return sentences, each with a remedy, about pairs of bodies baked together, a job each, that never collide."""
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
