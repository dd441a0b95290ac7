"""What is told of a match: which vibrations, at which frequencies, and what to do about the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..frequencies import frequency_words
from .matching import SHARE, Pairs, Spectra


class Vibration(NamedTuple):
    """One of a subspace: ``frequency``, Hz, without the match; ``right``, Hz, that of all vertices, 0 where it is left
    alone; ``share`` of it that lies in the vibrations of all vertices.
    """

    frequency: float
    right: float
    share: float


class Match(NamedTuple):
    """``words`` for an artist, "" where nothing is matched; the ``vibrations``, slowest first."""

    words: str = ""
    vibrations: tuple[Vibration, ...] = ()


REFUSED = (
    "The right vibrations cannot be found, and the body moves as without: so many tetrahedra are too large for the "
    "free memory (set fewer Cells Across, or Match Cells), or the materials differ too much."
)


def about_match(spectra: Spectra, pairs: Pairs, count: int) -> Match:
    """What is told where the lowest ``count`` were to be paired."""
    if not len(spectra.fine):
        return Match(REFUSED)
    right = np.zeros(len(pairs.shares))
    right[pairs.coarse] = spectra.fine[pairs.fine]
    columns = _hertz(spectra.coarse), _hertz(right), pairs.shares
    vibrations = tuple(Vibration(*map(float, each)) for each in zip(*columns, strict=False))
    return Match(_words(vibrations, min(count, len(spectra.coarse))), vibrations)


def _hertz(eigenvalues: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(eigenvalues, 0.0)) / (2.0 * np.pi)


def _words(vibrations: Sequence[Vibration], wanted: int) -> str:
    alone, cut = [k for k, each in enumerate(vibrations) if not each.right], range(len(vibrations), wanted)
    unlike = [k for k in alone if vibrations[k].share < SHARE]
    limp = [k for k in alone if k not in unlike]
    said = [_of_matched(vibrations, wanted)]
    if unlike:
        said.append(f"{_named(unlike)} left alone, as nothing in the full mesh swings so: raise Modes.")
    if limp:
        said.append(f"{_named(limp)} left alone, as too few points feel it: raise Cubature Points.")
    if cut:
        said.append(
            f"{_named(cut)} left alone, as the next is as fast: set more Matched Vibrations, or {len(vibrations)}."
        )
    return " ".join(said)


def _of_matched(vibrations: Sequence[Vibration], wanted: int) -> str:
    matched = [(k, each) for k, each in enumerate(vibrations, start=1) if each.right]
    if not matched:
        return "No vibration matches the full mesh, and the body moves as without."
    many, (first, slowest) = len(matched), matched[0]
    how_many = f"{many} of {wanted}" if many < wanted else str(many)
    match = "vibration matches" if wanted == 1 else "vibrations match"
    which = "the first" if first == 1 else f"vibration {first}"
    right, without = map(frequency_words, (slowest.right, slowest.frequency))
    return f"{how_many} {match} the full mesh; {which} swings at {right} Hz, {without} Hz without."


def _named(modes: Sequence[int]) -> str:
    *before, last = [str(k + 1) for k in modes]
    return f"Vibrations {', '.join(before)} and {last} are" if before else f"Vibration {last} is"
