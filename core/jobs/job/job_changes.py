"""Differences between two jobs, in the words of the user interface."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import Field, fields, is_dataclass
from typing import Any

import numpy as np

from ...foundation.schema.field_metadata import equal_fields, is_tuple_of_dataclasses, spec_of
from ...foundation.schema.solver_kinds import SOLVER_KINDS
from ...foundation.schema.tracks import at_frames, steps_of
from .body import Body
from .fingerprints import BETWEEN_FRAMES, reported_changes, substep_tracks
from .job import Job

Jobs = tuple[Job, Job]
"""The earlier and the current job, which have one body each."""

Key = tuple[type, str]
"""Type and name of an item, such as a collider, in a list of named items."""

MOST = 4
"""Largest number of listed details of one part. Further details are only counted."""


def details(part: str, before: Job, now: Job) -> list[str]:
    """Return descriptions of the differences between two jobs in one ``part``, a key of ``Job.fingerprints``.

    At most MOST differences are described, and the others counted. The list is empty if no detail is known.
    """
    clock = _edits(_of(part, now), before, now, (before, now))
    found = list(dict.fromkeys([*clock, *_of_bodies(part, before, now)]))
    return found if len(found) <= MOST else [*found[:MOST], f"{len(found) - MOST} more"]


def _of(part: str, owner: Any) -> list[Field]:
    return [item for item in fields(owner) if spec_of(item).word == part]


def _of_bodies(part: str, before: Job, now: Job) -> list[str]:
    """Return the differences in one ``part`` between the bodies of two jobs, matched by name."""
    if len(before.bodies) == len(now.bodies) == 1:
        return _of_body(part, before, now)
    then, there = ({(Body, each.name): job.alone(k) for k, each in enumerate(job.bodies)} for job in (before, now))
    changes = ((key[1], words) for key in there if key in then for words in _of_body(part, then[key], there[key]))
    return [*_came_and_went(then, there), *(f"“{name}”: {words}" for name, words in changes)]


def _of_body(part: str, before: Job, now: Job) -> list[str]:
    if part == BETWEEN_FRAMES:
        return _between_frames(before, now)
    return _edits(_of(part, now.body), before.body, now.body, (before, now))


def described(parts: Sequence[str], before: Job, now: Job) -> list[str]:
    """Return the changed ``parts``, each with its details: ``solver (substeps 1 → 2)``.

    A change of the simulation scale is returned alone.
    """
    named = ((part, details(part, before, now)) for part in reported_changes(parts))
    return [f"{part} ({'; '.join(found)})" if found else part for part, found in named]


def _edits(items: Iterable[Field], before: Any, now: Any, jobs: Jobs) -> list[str]:
    """Return descriptions of how the dataclass objects ``before`` and ``now`` differ in the fields ``items``."""
    return [words for item in items for words in _edit(item, before, now, jobs)]


def _edit(item: Field, before: Any, now: Any, jobs: Jobs) -> list[str]:
    """Return descriptions of how the dataclass objects ``before`` and ``now`` differ in the field ``item``."""
    spec, label = spec_of(item), _label(item)
    a, b = (getattr(each, spec.shown or item.name) for each in (before, now))
    if spec.names_of:
        a, b = (_names(job.body, spec.names_of, numbers) for job, numbers in zip(jobs, (a, b)))
    if equal_fields(a, b):
        return []
    if spec.each_of:
        return _of_each(item, a, b, jobs)
    if is_tuple_of_dataclasses(a) or is_tuple_of_dataclasses(b):
        return _by_name(a, b, jobs)
    if (a is None or b is None) and (spec.over_frames or is_dataclass(a) or is_dataclass(b)):
        return [f"{label} is new" if a is None else f"{label} was removed"]
    if is_dataclass(b):
        return [f"{label}: {words}" if label else words for words in _edits(fields(b), a, b, jobs)]
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _array(item, a, b, jobs)
    return [label] if hasattr(b, "_fields") else [f"{label} {_value(item, a)} → {_value(item, b)}".strip()]


def _label(item: Field) -> str:
    label = spec_of(item).label
    return item.name.replace("_", " ") if label is None else label


def _names(body: Body, which: str, numbers: Sequence[int]) -> str:
    return ", ".join(getattr(body, which)[k].name for k in numbers) or "nothing"


def _of_each(item: Field, a: Any, b: Any, jobs: Jobs) -> list[str]:
    """Return one description, such as ``map of “Bone”``, per item of a list of the body with changed data.

    ``a``, ``b``: values before and now of the dataclass field ``item``: arrays with one column per item of the list, or
        tuples of objects that each refer to a material.
    """
    then, names = ([each.name for each in getattr(job.body, spec_of(item).each_of)] for job in jobs)
    if then != names or (isinstance(b, np.ndarray) and a.shape != b.shape):
        return []
    return [f"{_label(item)} “{name}”" for k, name in enumerate(names) if not equal_fields(_share(a, k), _share(b, k))]


def _share(value: Any, k: int) -> Any:
    return value[:, k] if isinstance(value, np.ndarray) else tuple(each for each in value if each.material == k)


def _by_name(before: Sequence[Any], now: Sequence[Any], jobs: Jobs) -> list[str]:
    """Return descriptions of the added, removed and edited items between two lists of named items."""
    # A mesh with the ground's name is not the ground: keys include the type.
    then, there = ({(type(item), item.name): item for item in items} for items in (before, now))
    found = _came_and_went(then, there)
    for key, item in there.items():
        if key in then and (words := _edits(fields(item), then[key], item, jobs)):
            found.append(f"“{item.name}”: {', '.join(dict.fromkeys(words))}")
    if not found and [item.name for item in before] != [item.name for item in now]:
        found.append("their order")
    return found


def _came_and_went(then: Iterable[Key], there: Iterable[Key]) -> list[str]:
    came = [f"“{key[1]}” is new" for key in there if key not in then]
    return came + [f"“{key[1]}” was removed" for key in then if key not in there]


def _array(item: Field, a: Any, b: Any, jobs: Jobs) -> list[str]:
    label = _label(item)
    if spec_of(item).over_frames:
        return _since(label, *(_at_frames(each, job.frame_count) for each, job in zip((a, b), jobs)), jobs[1])
    if not spec_of(item).counted:
        return [label]
    if len(a) != len(b):
        return [f"{len(a)} → {len(b)} {label}"]
    return [f"{np.count_nonzero((a != b).reshape(len(b), -1).any(axis=1))} of {len(b)} {label}"]


def _at_frames(track: np.ndarray, frames: int) -> np.ndarray:
    """Return the samples of a track at each of ``frames`` frames. A single sample is repeated."""
    return np.broadcast_to(track, (frames, *track.shape[1:])) if len(track) == 1 else at_frames(track, frames)


def _since(label: str, before: np.ndarray, now: np.ndarray, job: Job, steps: int = 1) -> list[str]:
    """Return ``label`` with the first frame at which two tracks differ, as a list, or [] without a difference."""
    count = min(len(before), len(now))
    if before.shape[1:] != now.shape[1:]:
        return []
    different = (before[:count] != now[:count]).reshape(count, -1).any(axis=1)
    frame = job.frame_start - (-int(different.argmax()) // steps)
    since = "" if frame == job.frame_start else f" from frame {frame}"
    return [label + since] if different.any() else []


def _between_frames(before: Job, now: Job) -> list[str]:
    """Return the names of the tracks whose samples between frames differ between two jobs."""
    a, b = dict(substep_tracks(before)), dict(substep_tracks(now))
    found = []
    for name in dict.fromkeys((*a, *b)):
        steps = [steps_of(each[name], job.frame_count) for each, job in ((a, before), (b, now)) if name in each]
        same = len(steps) == 2 and steps[0] == steps[1]
        found += _since(name, a[name], b[name], now, steps[0]) if same else [name]
    return found


def _value(item: Field, value: Any) -> str:
    """Return the value of a settings field as panels and menus show it."""
    if spec_of(item).menu:
        return _menu_label(value)
    if item.metadata.get("unit") == "Pa" and value is not None:
        return _stiffness(value)
    return _number(value)


def _menu_label(value: str) -> str:
    # Imported here, since these modules load Numba, which would delay the start of interfaces.
    from ...mechanics.energies.registry import ENERGIES
    from ...methods.eigenfit.methods import MENU
    from ...numerics.integrators.registry import RULES

    labels = {key: entry.label for registry in (SOLVER_KINDS, ENERGIES) for key, entry in registry.items()}
    labels |= {key: label for key, (label, _description) in MENU.items()}
    labels |= {key: rule.LABEL for key, rule in RULES.items()}
    return labels.get(value, value)


def _stiffness(value: float) -> str:
    """Return a Young's modulus in Pa as panels show it: ``50 kPa``."""
    size, unit = next((u for u in ((1e9, "GPa"), (1e6, "MPa"), (1e3, "kPa")) if value >= u[0]), (1.0, "Pa"))
    return f"{value / size:.5g} {unit}"


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_number, value))})"
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)


def equal_parts(before: Job, now: Job) -> set[str]:
    """Return the names of the job parts, such as pins, that are equal in all common frames of both jobs."""
    if before.frame_start != now.frame_start or before.frame_rate != now.frame_rate:
        return set()
    end = min(before.frame_end, now.frame_end)
    then = before.until(end).fingerprints()
    return {part for part, digest in now.until(end).fingerprints().items() if then[part] == digest} - {"frame range"}
