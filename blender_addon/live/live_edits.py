"""Edits during live mode. A change of stiffness takes effect at once, every other edit at the next Reset.

Only inputs that are cheap to read are checked (``scene_import/edit_snapshot.py``): not vertex group weights, which
Blender returns one by one, and not other objects. Reset and Record compare whole jobs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.foundation.schema.settings import moduli
from ...core.jobs.job.body import Body
from ...core.jobs.job.fingerprints import reported_changes
from ..properties.choices import live_solver_name
from ..scene_import.edit_snapshot import snapshot, without_stiffness
from ..scene_import.muscles_in import muscle_activation
from ..scene_import.settings_in import material_settings, vibration_stiffness


class Stiffness(NamedTuple):
    """Stiffness and activation that can be changed during live mode. A list is empty if its values are animated.

    Attributes
    ----------
    moduli : Young's modulus per material, Pa
    vibrations : stiffness factor per controlled vibration
    activation : activation per muscle
    """

    moduli: list[float]
    vibrations: list[float]
    activation: list[float]


class Edits:
    """Comparison of an object with its state at the start of the session.

    The comparison is cheap enough for every poll. Stiffness values that are animated in the simulated ``body`` are not
    compared.
    """

    def __init__(self, obj: Any, scene: Any, body: Body) -> None:
        factors = body.vibration_stiffness
        self._are_keyed = (
            body.moduli is not None,
            factors is not None and bool((factors != factors[0]).any()),
            any(len(muscle.activation) > 1 for muscle in body.muscles),
        )
        self._stiffness = self._first_stiffness = self._by_hand(obj)
        self._others = _others(obj, scene)
        self._vertices = len(obj.data.vertices)

    @property
    def stiffness_differs(self) -> bool:
        """Return True if the child process uses another stiffness than at the start of the session."""
        return self._stiffness != self._first_stiffness

    def new_stiffness(self, obj: Any) -> Stiffness | None:
        """Return the present stiffness if it has changed since the last returned value.

        Before the first returned value, the stiffness at the session's start counts. Returns None without a change.
        Returns None if materials or vibrations were added or removed.
        """
        now = self._by_hand(obj)
        if now == self._stiffness or [*map(len, now)] != [*map(len, self._stiffness)]:
            return None
        self._stiffness = now
        return now

    def others(self, obj: Any, scene: Any) -> list[str]:
        """Return the labels of changed inputs other than stiffness.

        Inputs are compared with the start of the session.
        """
        now = _others(obj, scene)
        return list(reported_changes([word for word, before in self._others.items() if before != now[word]]))

    def words(self, obj: Any, scene: Any) -> list[str]:
        """Return the labels of all inputs that differ from the simulated inputs, stiffness included."""
        changed = zip(("materials", "solver", "materials"), self._by_hand(obj), self._stiffness, strict=True)
        differing = [word for word, now, before in changed if now != before]
        return list(dict.fromkeys([*differing, *self.others(obj, scene)]))

    def _by_hand(self, obj: Any) -> Stiffness:
        of_materials, of_vibrations, of_muscles = self._are_keyed
        factors = [] if of_vibrations else vibration_stiffness(obj.sinew)
        return Stiffness([] if of_materials else _moduli(obj), factors, [] if of_muscles else muscle_activation(obj))

    def reason_to_end(self, obj: Any) -> str:
        """Return the reason why live mode can no longer draw the body, or ""."""
        if len(obj.data.vertices) != self._vertices:
            return "Live mode ended: the mesh was edited."
        return ""


def _moduli(obj: Any) -> list[float]:
    return moduli([material_settings(material) for material in obj.sinew.materials])


def _others(obj: Any, scene: Any) -> dict[str, Any]:
    """Return the inputs of live mode that are cheap to read, without stiffness, by label."""
    found = snapshot(obj, scene, live_solver_name(obj.sinew))
    return found | {"materials": [without_stiffness(m, scene) for m in obj.sinew.materials]}
