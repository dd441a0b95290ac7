"""What was edited between two jobs, in an artist's words: the map, the material, the setting, the frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..tracks import at_frames, steps_of
from .fingerprints import BETWEEN_FRAMES, finer_tracks
from .job import Job

WORDS = {
    "youngs_modulus": "stiffness",
    "painted_modulus": "painted stiffness",
    "poissons_ratio": "Poisson's ratio",
    "max_iterations": "iterations",
    "mass_damping": "drag",
    "stiffness_damping": "inner friction",
    "integrator": "integration",
    "thickness": "distance",
    "finest": "finer by",
}
"""What fields of settings are called where an artist meets them under another name."""
MENUS = ("solver", "integrator", "energy")
"""Fields whose values are names in a registry."""
MODULI = ("youngs_modulus", "painted_modulus")
MOST = 4
"""Details that are named of one part; of the rest only the number."""


def details(part: str, before: Job, now: Job) -> list[str]:
    """What differs in a part (a word of ``Job.fingerprints``) of two jobs; empty where nothing closer can be said."""
    find = _FINDERS.get(part)
    found = find(before, now) if find is not None else []
    return found if len(found) <= MOST else [*found[:MOST], f"{len(found) - MOST} more"]


def described(parts: Iterable[str], before: Job, now: Job) -> list[str]:
    """Each part with its details behind it: ``solver (substeps 1 → 2)``."""
    named = ((part, details(part, before, now)) for part in parts)
    return [f"{part} ({'; '.join(found)})" if found else part for part, found in named]


def _mesh(before: Job, now: Job) -> list[str]:
    a, b = len(before.surface.positions), len(now.surface.positions)
    if a != b:
        return [f"{a} → {b} vertices"]
    moved = int((before.surface.positions != now.surface.positions).any(axis=1).sum())
    words = [f"{moved} {'vertex' if moved == 1 else 'vertices'} moved"] if moved else []
    return words if np.array_equal(before.surface.triangles, now.surface.triangles) else [*words, "faces"]


def _settings(before: Any, now: Any) -> list[str]:
    """Fields of two frozen dataclasses that differ, with their values."""
    found = []
    for field in fields(before):
        a, b = getattr(before, field.name), getattr(now, field.name)
        if a != b:
            found.append(f"{_word(field.name)}{_labelled(field.name, a)} → {_labelled(field.name, b)}")
    return found


def _resolution(before: Job, now: Job) -> list[str]:
    found = _settings(before.resolution, now.resolution)
    a, b = before.fineness, now.fineness
    same = a is b or (a is not None and b is not None and np.array_equal(a, b))
    return found if same else [*found, "where it is finer"]


def _word(name: str) -> str:
    """Of a field, before its values; menus speak for themselves."""
    return "" if name in MENUS else f"{WORDS.get(name, name.replace('_', ' '))} "


def _labelled(name: str, value: Any) -> str:
    """A value as its menu shows it."""
    if name in MODULI and value is not None:
        return _stiffness(value)
    if name not in MENUS:
        return _value(value)
    # They load Numba, which an interface's start should not wait for.
    from ..energies.registry import ENERGIES
    from ..integrators.registry import INTEGRATORS
    from ..solvers.registry import SOLVERS

    labels = {key: entry.label for registry in (SOLVERS, ENERGIES) for key, entry in registry.items()}
    labels |= {key: rule.LABEL for key, rule in INTEGRATORS.items()}
    return labels.get(value, value)


def _stiffness(value: float) -> str:
    """A Young's modulus, as panels show it: ``50 kPa``."""
    size, unit = next((u for u in ((1e9, "GPa"), (1e6, "MPa"), (1e3, "kPa")) if value >= u[0]), (1.0, "Pa"))
    return f"{value / size:.5g} {unit}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(_value(v) for v in value)})"
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)


def _by_name(
    before: Sequence[Any], now: Sequence[Any], noun: str, differ: Callable[[Any, Any], list[str]]
) -> list[str]:
    """Items that came, went, or differ, in two lists of things with names."""
    then, there = {item.name: item for item in before}, {item.name: item for item in now}
    found = [f"{noun}“{name}” is new" for name in there if name not in then]
    found += [f"{noun}“{name}” was removed" for name in then if name not in there]
    for name, item in there.items():
        if name in then and (words := differ(then[name], item)):
            found += [f"{noun}“{name}”: {', '.join(words)}"]
    if not found and [item.name for item in before] != [item.name for item in now]:
        found.append("their order")
    return found


def _materials(before: Job, now: Job) -> list[str]:
    found = _by_name(before.materials, now.materials, "", _settings)
    if [m.name for m in before.materials] != [m.name for m in now.materials]:
        return found
    names = [f"“{material.name}”" for material in now.materials]
    maps = (
        ("map", before.material_weights, now.material_weights),
        ("stiffness map", before.stiffness_maps, now.stiffness_maps),
    )
    for what, a, b in maps:
        if a.shape == b.shape:
            found += [f"{what} of {names[k]}" for k in np.flatnonzero((a != b).any(axis=0))]
    found += [f"place of {name}" for k, name in enumerate(names) if not _same_layers(before, now, k)]
    if before.moduli is None or now.moduli is None:
        keyed = "is keyed" if before.moduli is None else "is no longer keyed"
        return found if before.moduli is now.moduli else [*found, f"stiffness {keyed}"]
    return found + _since("stiffness", before.moduli, now.moduli, now)


def _same_layers(before: Job, now: Job, material: int) -> bool:
    """Whether a material covers the same by its regions and its depth."""
    then, there = ([layer for layer in job.layers if layer.material == material] for job in (before, now))
    return len(then) == len(there) and all(_same_layer(a, b) for a, b in zip(then, there))


def _same_layer(a: Any, b: Any) -> bool:
    one, other = a.arrays(), b.arrays()
    same = one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
    return same and a.depth == b.depth


def _pins(before: Job, now: Job) -> list[str]:
    a, b = before.pinned_vertices, now.pinned_vertices
    if not np.array_equal(a, b):
        return [f"{len(a)} → {len(b)} vertices" if len(a) != len(b) else "other vertices"]
    return _since("their release", before.pin_held, now.pin_held, now)


def _springs(before: Job, now: Job) -> list[str]:
    def differ(a: Any, b: Any) -> list[str]:
        words = {"vertices": "vertices", "weights": "weights", "targets": "target", "stiffness": "strength"}
        return [words[name] for name in words if not np.array_equal(getattr(a, name), getattr(b, name))]

    return _by_name(before.springs, now.springs, "", differ)


def _collisions(before: Job, now: Job) -> list[str]:
    found = []
    if (before.ground is None) != (now.ground is None):
        found.append(f"ground {'on' if now.ground is not None else 'off'}")
    elif before.ground is not None:
        found += [f"ground: {words}" for words in _settings(before.ground, now.ground)]

    def differ(a: Any, b: Any) -> list[str]:
        names = ("friction", "thickness")
        words = [WORDS.get(name, name) for name in names if getattr(a, name) != getattr(b, name)]
        same_faces = np.array_equal(a.triangles, b.triangles)
        return words if same_faces and np.array_equal(a.positions, b.positions) else [*words, "shape or movement"]

    return found + _by_name(before.colliders, now.colliders, "", differ)


def _range(before: Job, now: Job) -> list[str]:
    found, a, b = [], (before.first_shown, before.frame_end), (now.first_shown, now.frame_end)
    if a != b:
        found.append(f"{a[0]}-{a[1]} → {b[0]}-{b[1]}")
    if before.pre_roll != now.pre_roll:
        found.append(f"pre-roll {before.pre_roll} → {now.pre_roll}")
    if before.frame_rate != now.frame_rate:
        found.append(f"frame rate {before.frame_rate:g} → {now.frame_rate:g}")
    return found


def _animation(before: Job, now: Job) -> list[str]:
    found = _since("the object", before.frame_matrices, now.frame_matrices, now)
    if np.array_equal(before.pinned_vertices, now.pinned_vertices):
        pins = (at_frames(job.pin_positions, job.frame_count) for job in (before, now))
        found += _since("the pins", *pins, now)
    return found


def _between_frames(before: Job, now: Job) -> list[str]:
    """What moves otherwise on the way from frame to frame, or was not known there."""
    a, b = dict(finer_tracks(before)), dict(finer_tracks(now))
    found = []
    for name in dict.fromkeys((*a, *b)):
        if (
            name not in a
            or name not in b
            or steps_of(a[name], before.frame_count) != steps_of(b[name], now.frame_count)
        ):
            found.append(name)
        else:
            found += _since(name, a[name], b[name], now, steps_of(b[name], now.frame_count))
    return found


def _fields(before: Job, now: Job) -> list[str]:
    found = []
    if (before.accelerations is None) != (now.accelerations is None):
        found.append("acceleration is new" if before.accelerations is None else "acceleration was removed")
    elif before.accelerations is not None:
        found += _since("acceleration", before.accelerations, now.accelerations, now)

    def differ(a: Any, b: Any) -> list[str]:
        one, other = a.arrays(), b.arrays()
        same = one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
        about = [[job.absorbers[k].name for k in each.absorbers] for job, each in ((before, a), (now, b))]
        alike = {**a.settings(), "absorbers": about[0]} == {**b.settings(), "absorbers": about[1]}
        return [] if same and alike else ["strength, shape or movement"]

    def absorb(a: Any, b: Any) -> list[str]:
        one, other = a.arrays(), b.arrays()
        return [] if all(np.array_equal(one[name], other[name]) for name in one) else ["absorption, shape or movement"]

    found += _by_name(before.force_fields, now.force_fields, "", differ)
    return found + _by_name(before.absorbers, now.absorbers, "", absorb)


def _since(what: str, before: np.ndarray, now: np.ndarray, job: Job, steps: int = 1) -> list[str]:
    """On the way to which frame two arrays begin to differ, of so many samples a frame, over what both have."""
    count = min(len(before), len(now))
    if before.shape[1:] != now.shape[1:]:
        return []
    different = (before[:count] != now[:count]).reshape(count, -1).any(axis=1)
    frame = job.frame_start - (-int(different.argmax()) // steps)
    return [f"{what} from frame {frame}"] if different.any() else []


_FINDERS: dict[str, Callable[[Job, Job], list[str]]] = {
    "mesh": _mesh,
    "resolution": _resolution,
    "materials": _materials,
    "pins": _pins,
    "springs": _springs,
    "collisions": _collisions,
    "fields": _fields,
    "solver": lambda before, now: _settings(before.solver, now.solver),
    "frame range": _range,
    "animation": _animation,
    BETWEEN_FRAMES: _between_frames,
}
