"""Contact settings of a body for pairs with one other body or collider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.jobs.job.environment import Collider, Ground
from ...core.jobs.job.pair import PairSettings
from ..properties.mirror import clean
from .colliders_in import seen_of
from .mesh_in import unit_scale


def pair_settings(
    obj: Any, colliders: Sequence[Ground | Collider], scene: Any, alone: bool = False
) -> tuple[PairSettings, ...]:
    """Return the contact settings of a body for pairs with one other body or collider.

    A pair with a deleted partner is kept, as a pair with a body that is not in the job. The bake then warns that the
    pair has no effect.

    ``colliders``: colliders of the body in the job.
    ``alone``: True if the body is simulated without other bodies. Pairs are then left out if the partner is not one of
        the ``colliders``.
    """
    found = []
    for pair in obj.sinew.pairs:
        overrides = {
            "friction": clean(pair.friction) if pair.use_friction else None,
            "thickness": clean(pair.thickness) * unit_scale(scene) if pair.use_thickness else None,
        }
        if pair.other != obj and pair.name not in ("", obj.name):
            found += [PairSettings(name, **overrides) for name in _names(pair, colliders, alone)]
    return tuple(sorted(found, key=lambda each: each.other))


def _names(pair: Any, colliders: Sequence[Ground | Collider], alone: bool) -> list[str]:
    """Return the names under which the partner of a contact ``pair`` appears in a job.

    An object that instances others appears as several colliders, named "object" and "object > instanced object". An
    object that is not among the ``colliders`` appears as a body. If one body is simulated ``alone``, the job has no
    other bodies, and the list is then empty.
    """
    seen = {each.name for each in (pair.other, pair.other and seen_of(pair.other)) if each is not None}
    names = [each.name for each in colliders]
    found = [name for name in names if any(name == own or name.startswith(f"{own} > ") for own in seen)]
    return found or [pair.other.name if pair.other else pair.name] * (not alone)
