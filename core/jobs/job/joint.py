"""Joint of a rigid body with another body, with a collider, or with the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...foundation.errors import TieError
from ...foundation.schema.declared_types import coerce
from ...foundation.schema.field_metadata import field_spec
from ...foundation.schema.setting_fields import check_ranges, choice, number

HINGE, BALL, WELD = "hinge", "ball", "weld"


@dataclass(frozen=True)
class Joint:
    """Joint of a body with a partner: another body, a collider, or the world.

    Jointed bodies do not collide with each other. Angles are those of the body relative to its partner, 0 at rest.

    Attributes
    ----------
    other : str
        Name of the other body or of a collider of this body; empty for the world.
    kind : str
        ``hinge``: the body turns about the axis alone. ``ball``: it turns in every way. ``weld``: it does not turn.
    position : (3,) float64
        A point of the joint at rest, world space, m.
    axis : (3,) float64
        Direction of a hinge's axis, or of the axis of the body that a ball's limit keeps in a cone; of any length.
    limits : (2,) float64 or None
        Smallest and largest angle of a hinge, rad, at most a full turn apart. A ball's axis leaves the middle of its
        cone by at most the second value.
    stiffness : float
        Stiffness of a spring that turns a joint to its ``target``, N m/rad. The torque is proportional to the sine of
        the angle between the two.
    target : (frames,) or (frames,3) float64
        Target angle of a hinge at each frame, rad, or a single value. Of a ball, a
        rotation vector, rad, or an angle about ``axis``.
    strength : (frames,) float64
        Factor on the joint's stiffness at each frame, or a single value; 0 lets go.
    cone : (3,) float64 or None
        Middle of a ball's cone at rest, fixed to the partner, of any length; None for ``axis``.
    twist : (2,) float64 or None
        Smallest and largest twist of a ball about ``axis``, rad: the angle of the rotation that is left when the
        shortest rotation between the axis at ``offset`` 0 and the axis of the body is taken off.
    offset : (3,) float64
        Rotation vector at rest, rad: the rotation of the body from where its twist is 0.
    """

    other: str = choice("", "Name of the other body or collider; empty for the world")
    kind: str = choice(HINGE, "Turn about one axis, in every way, or not at all", names=(HINGE, BALL, WELD))
    position: np.ndarray = field_spec("position", default=(0.0, 0.0, 0.0), dtype=np.float64)
    axis: np.ndarray = field_spec("axis", default=(0.0, 0.0, 1.0), dtype=np.float64)
    limits: np.ndarray | None = field_spec("limits", default=None, dtype=np.float64)
    stiffness: float = number(
        0.0,
        0.0,
        None,
        "N m/rad",
        "Stiffness of the spring that turns a joint to its target, N m/rad: 0 is loose, 20 holds a neck",
    )
    target: np.ndarray = field_spec("target", default=(0.0,), dtype=np.float64, over_frames=True, once=True)
    strength: np.ndarray = field_spec("strength", default=(1.0,), dtype=np.float64, over_frames=True, once=True)
    cone: np.ndarray | None = field_spec("cone", default=None, dtype=np.float64)
    twist: np.ndarray | None = field_spec("twist", default=None, dtype=np.float64)
    offset: np.ndarray = field_spec("offset", default=(0.0, 0.0, 0.0), dtype=np.float64)

    def __post_init__(self) -> None:
        coerce(self, TieError, "Joint")
        for name in ("target", "strength"):
            object.__setattr__(self, name, np.atleast_1d(getattr(self, name)))
        check_ranges(self, TieError, self.words)
        self._check_directions()
        self._check_limits()
        tracks = self.target, self.strength
        is_track = self.strength.ndim == 1 and self.target.shape[1:] in ((), (3,) * (self.kind == BALL))
        if not is_track or not all(np.isfinite(each).all() for each in tracks) or (self.strength < 0.0).any():
            raise TieError(f"{self.words}: its strength or target is not valid.", "Give numbers; the strength from 0.")

    def _check_directions(self) -> None:
        at = self.position, self.offset
        directions = self.axis, self.axis if self.cone is None else self.cone
        if any(each.shape != (3,) or not np.isfinite(each).all() for each in (*at, *directions)) or not all(
            each.any() for each in directions
        ):
            raise TieError(f"{self.words}: its position, axis, cone or offset is not a vector.", "Give three numbers.")

    def _check_limits(self) -> None:
        limits = self.limits
        if limits is not None and not (limits.shape == (2,) and 0.0 < limits[1] - limits[0] <= 2.0 * np.pi):
            raise TieError(
                f"{self.words}: its limits are not two angles at most a full turn apart.",
                "Give the smallest angle, then the largest, in radians.",
            )
        if limits is not None and self.kind == BALL and not 0.0 < limits[1] <= np.pi:
            raise TieError(f"{self.words}: its cone is not 0 to pi wide.", "Give its half angle as the second limit.")
        twist = self.twist
        if twist is not None and not (twist.shape == (2,) and 0.0 <= twist[1] - twist[0] <= 2.0 * np.pi):
            raise TieError(
                f"{self.words}: its twist is not two angles at most a full turn apart.",
                "Give the smallest angle, then the largest, in radians.",
            )

    @property
    def words(self) -> str:
        """Name of the joint in messages."""
        return f"The {self.kind} with “{self.other}”" if self.other else f"The {self.kind} with the world"


def check_joints(name: str, joints: Sequence[Joint], frames: int) -> None:
    """Raise TieError if the ``joints`` do not fit the body ``name`` over all frames."""
    for joint in joints:
        if joint.other and joint.other == name:
            raise TieError(f"“{name}” has a joint with itself.", "Choose another body or a collider as its partner.")
        for track in (joint.target, joint.strength):
            if len(track) not in (1, frames):
                raise TieError(
                    f"{joint.words} has values at {len(track)} frames, not {frames}.",
                    "Give one value per frame, or a single value.",
                )
