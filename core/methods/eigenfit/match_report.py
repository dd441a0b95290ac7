"""Report of a match: the matched vibrations, their frequencies, and remedies for unmatched vibrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...foundation.unit_words import frequency_words
from .error_estimate import Estimate
from .matching import SHARE, Pairs, Spectra


class Vibration(NamedTuple):
    """Vibration of the coarse body in the report of a match.

    ``frequency``, Hz: frequency without a match. ``right``, Hz: frequency of the paired vibration of the finer body; 0
    without a pair. ``share``: fraction of the mode, by squared mass norm, that the fine modes can represent.
    """

    frequency: float
    right: float
    share: float


class Match(NamedTuple):
    """Result of a match, for the report.

    ``words``: text for the user, empty if no match is requested. ``vibrations``: vibrations of the coarse body, lowest
    frequency first.
    """

    words: str = ""
    vibrations: tuple[Vibration, ...] = ()

    def with_words(self, more: str) -> Match:
        """Return a copy with the sentence ``more`` appended to the report."""
        return self._replace(words=f"{self.words} {more}".strip())


REFUSED = "Vibrations are not matched: "
"""Beginning of the report if the vibrations are not matched. The reason follows."""


class _Words(NamedTuple):
    """Texts of the report that depend on the finer body.

    ``finer``: name of the finer body. ``unlike``: setting to raise if a vibration has no counterpart. ``limp``: setting
    to raise if a vibration is too soft. ``remedy``: remedy for a large error.
    """

    finer: str
    unlike: str
    limp: str
    remedy: str


OF_MESHES = {
    True: _Words("full mesh", "Modes", "Cubature Points", "Raise Modes or Cubature Points."),
    False: _Words("finer lattice", "Cells Across", "Cells Across", "Raise Cells Across."),
}
"""Texts of the report by ``Spectra.is_one_mesh``.

True: a subspace is matched to its own mesh in the full space. False: a coarse lattice is matched to a finer lattice.
"""

SLOW = 0.95
"""Fraction of the finer body's frequency below which a vibration is reported as too slow.

A coarse body with equally firm pins is stiffer than the fine one. A slower vibration therefore shows that the pins hold
less.
"""


def match_summary(
    spectra: Spectra,
    pairs: Pairs,
    count: int,
    is_chosen: bool = False,
    off: Sequence[Estimate] = (),
    is_tried: bool = False,
) -> Match:
    """Return the report on the match of the lowest ``count`` vibrations.

    ``is_chosen``: True if ``count`` was chosen automatically. ``off``: errors of the body's displacements with and
    without the match; empty if unknown. ``is_tried``: True if trial simulations measured the errors, with one entry of
    ``off`` per load; False if the errors were estimated from the spectra.
    """
    right = np.zeros(len(pairs.shares))
    right[pairs.coarse] = spectra.fine[pairs.fine]
    columns = _hertz(spectra.coarse), _hertz(right), pairs.shares
    vibrations = tuple(Vibration(*map(float, each)) for each in zip(*columns, strict=False))
    words, wanted = OF_MESHES[spectra.is_one_mesh], min(count, len(spectra.coarse))
    said = [_of_matched(vibrations, wanted, is_chosen, words)]
    if off:
        said.append(_off(off, spectra.is_one_mesh, is_tried))
    said += _left_alone(vibrations, wanted, len(spectra.fine), words)
    slow = [k for k, each in enumerate(vibrations) if each.frequency < SLOW * each.right]
    if slow and not spectra.is_one_mesh:
        said.append(
            f"{_named(slow)} slower than in the finer lattice, since pins or thin parts hold less here: "
            "raise Cells Across."
        )
    return Match(" ".join(said), vibrations)


def control_summary(spectra: Spectra, pairs: Pairs, count: int) -> Match:
    """Return the report for a body without a match whose vibrations the user controls.

    ``count``: number of lowest vibrations that the user can make softer or stiffer.
    """
    match = match_summary(spectra, pairs, count)
    if not match.vibrations:
        return match
    many, first = len(match.vibrations), frequency_words(match.vibrations[0].frequency)
    return match._replace(words=f"{many} vibrations can be controlled; the first has {first} Hz.")


def unmatched_summary(vibrations: Sequence[Vibration], factors: np.ndarray) -> str:
    """Return a sentence that names the user-controlled vibrations that were not computed.

    ``vibrations``: the computed vibrations. ``factors`` (frames,k): the user's stiffness factors per frame and
    vibration. The result is "" if all controlled vibrations were computed.
    """
    others = [k for k in np.flatnonzero((factors != 1.0).any(axis=0)).tolist() if k >= len(vibrations)]
    return f"{_named(others)} not controlled: raise Matched Vibrations." if others else ""


def _hertz(eigenvalues: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(eigenvalues, 0.0)) / (2.0 * np.pi)


def _of_matched(vibrations: Sequence[Vibration], wanted: int, is_chosen: bool, words: _Words) -> str:
    matched = [(k, each) for k, each in enumerate(vibrations, start=1) if each.right]
    if not matched:
        return f"No vibration matches the {words.finer}, so the body moves without a match."
    many, (first, slowest) = len(matched), matched[0]
    how_many = f"{many} of {wanted}" if many < wanted else str(many)
    match = f"{'chosen ' * is_chosen}{'vibration matches' if wanted == 1 else 'vibrations match'}"
    which = "the first" if first == 1 else f"vibration {first}"
    right, without = map(frequency_words, (slowest.right, slowest.frequency))
    return f"{how_many} {match} the {words.finer}; {which} has {right} Hz, {without} Hz unmatched."


def rejection_summary(off: Sequence[Estimate], is_one_mesh: bool) -> str:
    """Return the sentences on a match that the trial simulation rejected.

    ``off``: measured errors, one entry per load. ``is_one_mesh``: True if a subspace is matched to its own mesh in the
    full space.
    """
    tried = _off(off, is_one_mesh, True)
    return f"{tried[0].lower()}{tried[1:]} {OF_MESHES[is_one_mesh].remedy}"


def _off(off: Sequence[Estimate], is_one_mesh: bool, is_tried: bool) -> str:
    """Return a sentence with the errors of the body, in per cent of the finer body's movement."""
    plain, matched = map(_range, zip(*off, strict=True))
    if is_tried:
        return f"Test error {matched} ({plain} unmatched)."
    return f"Expected error {matched} ({plain} unmatched)." if is_one_mesh else f"Expected error {matched}; not tested."


def _range(parts: Sequence[float]) -> str:
    """Return the range of errors, given as fractions, in words: "5 %", "3 to 12 %"."""
    ends = [f"{100.0 * np.clip(part, 0.01, 1.0):.0f}" for part in (min(parts), max(parts))]
    return f"{' to '.join(dict.fromkeys(ends))} %"


def _left_alone(vibrations: Sequence[Vibration], wanted: int, found: int, words: _Words) -> list[str]:
    """Return one sentence per reason why some of the ``wanted`` lowest vibrations are unmatched."""
    alone, cut = [k for k, each in enumerate(vibrations) if not each.right], range(len(vibrations), wanted)
    unlike = [k for k in alone if vibrations[k].share < SHARE]
    reasons = {
        f"none of the first {found} vibrations of the {words.finer} has such a shape: "
        f"raise {words.unlike} or Matched Vibrations": unlike,
        f"too few cubature points resolve such a shape: raise {words.limp}": [k for k in alone if k not in unlike],
        f"the next vibration has the same frequency: set Matched Vibrations higher, or to {len(vibrations)}": cut,
    }
    return [f"{_named(which)} not matched, since {reason}." for reason, which in reasons.items() if which]


def _named(modes: Sequence[int]) -> str:
    """Return the subject and the verb of a sentence about vibrations: "Vibrations 1, 3 to 7 and 9 are"."""
    runs = np.split(np.add(modes, 1), np.flatnonzero(np.diff(modes) > 1) + 1)
    *before, last = [
        each for run in runs for each in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(k) for k in run])
    ]
    listed = f"{', '.join(before)} and {last}" if before else last
    return f"Vibrations {listed} are" if len(modes) > 1 else f"Vibration {listed} is"
