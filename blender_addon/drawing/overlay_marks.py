"""Current positions of pins, springs, dynamic nodes and the ground, as points or as ends of lines.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import ColliderError
from ..scene_import.colliders_in import collider_objects
from ..scene_import.mesh_in import transform, vertex_positions
from ..scene_import.picks import FULL
from .overlay_colliders import SEEN

CORNERS = 64
"""Number of corners of a polygon that is drawn as a circle."""
GRID = 8
"""Number of grid squares across the drawn part of the ground."""

PINS = (0.057, 0.576, 1.0)
SPRINGS = (1.0, 0.987, 0.0)
NODES = (0.291, 0.0, 1.0)
COLLIDERS = (0.006, 0.248, 0.088)
OUTLINE = (0.3, 0.65, 0.42)
OUTSIDE = (0.364, 0.067, 0.291)
FIBRES = (0.75, 0.02, 0.01)
NEWEST = (0.695, 1.0, 1.0)
"""Linear colours of marks, and of the newest frame of a running bake.

Any two of these colours differ by at least 25 (CIE76), for normal sight and for three dichromacies. Each colour differs
as much from Blender's selection colour and from the default colour of the ghost (second bake of a comparison).
"""


def groups_of(obj: Any) -> tuple[str, ...]:
    """Return the names of a body's vertex groups: pins, each spring, dynamic nodes."""
    return obj.sinew.pin_group, *(spring.vertex_group for spring in obj.sinew.springs), obj.sinew.node_group


def mark_points(obj: Any, weights: np.ndarray, positions: np.ndarray) -> dict[str, np.ndarray]:
    """Return the points of all marks in world space by kind, (k,3) per kind.

    Pins, dynamic nodes (``"nodes"``) and vertices pulled by springs (``"springs"``) have one point each. Each line of a
    spring (``"lines"``) or of the ground has two points, its ends. Two arrays are (k,4): ``"goal"`` has points and
    their pin weights, ``"balls"`` has centres and radii.

    ``weights`` (n,2+springs): vertex weights in the groups of :func:`groups_of`.
    ``positions`` (n,3): vertex positions.
    """
    pinned, threshold = weights[:, 0], obj.sinew.pin_threshold
    drawn = (pinned > 0.0) & (pinned < threshold) & obj.sinew.use_goal
    nodes = np.flatnonzero(weights[:, -1] >= FULL)
    pulled, lines = spring_points(obj, weights, positions)
    return {
        "pins": positions[pinned >= threshold],
        "goal": np.column_stack([positions, pinned])[drawn],
        "nodes": positions[nodes],
        "balls": node_balls(obj, nodes, positions),
        "springs": pulled,
        "lines": lines,
        "ground": ground_points(obj, positions),
        "over ground": ground_points(obj, positions, obj.sinew.collisions.thickness),
    }


def node_balls(obj: Any, nodes: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return balls around the dynamic nodes, centres and radii (k,4).

    Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. A radius is the rest distance to
    the nearest other node, clamped to bounds. The result is empty if there are more nodes than a bake accepts.

    ``nodes`` (k,): vertex indices of the nodes.
    ``positions`` (n,3): vertex positions of the body.
    """
    from ...core.jobs.job.dynamic_nodes import MOST_NODES  # they import kernels, which must not delay Blender's start
    from ...core.methods.model.nodes import radii

    if not 0 < len(nodes) <= MOST_NODES:
        return np.empty((0, 4))
    rest = transform(np.array(obj.matrix_world), vertex_positions(obj.data))
    return np.column_stack([positions[nodes], radii(rest[nodes], float(np.ptp(rest, axis=0).max()))])


def circles(balls: np.ndarray, to_view: np.ndarray) -> np.ndarray:
    """Return circles that outline balls for the viewer, as the ends (2l,3) of l line segments.

    ``balls`` (k,4): centres and radii.
    ``to_view`` (4,4): view matrix.
    """
    angles = 2.0 * np.pi * np.arange(CORNERS + 1) / CORNERS
    round_ = np.column_stack([np.cos(angles), np.sin(angles)]) @ to_view[:2, :3]
    lines = np.stack([round_[:-1], round_[1:]], axis=1).reshape(-1, 3)
    return (balls[:, None, :3] + balls[:, None, 3:] * lines).reshape(-1, 3)


def shown_positions(obj: Any, shown: Any, depsgraph: Any) -> np.ndarray:
    """Return the displayed vertex positions of a body, (n,3) in world space.

    If modifiers change the number of vertices, the positions are those without modifiers and shape keys.

    ``shown``: displayed object, the body or the duplicate with the body's bake.
    """
    evaluated = shown.evaluated_get(depsgraph)
    mesh = evaluated.data if len(evaluated.data.vertices) == len(obj.data.vertices) else obj.data
    return transform(np.array(shown.matrix_world), vertex_positions(mesh))


def spring_points(obj: Any, weights: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices that springs pull, and the lines from these vertices to their targets.

    The results are the positions (s,3) of the vertices, and the ends (2l,3) of the lines.
    """
    points, ends = [np.empty((0, 3))], [np.empty((0, 3))]
    for k, spring in enumerate(obj.sinew.springs):
        pulled = positions[weights[:, 1 + k] > 0.0]
        points.append(pulled)
        if spring.end == "OBJECT" and spring.target is not None:
            line = np.empty((len(pulled), 2, 3))
            line[:, 0], line[:, 1] = pulled, np.array(spring.target.matrix_world.translation)
            ends.append(line.reshape(-1, 3))
    return np.concatenate(points), np.concatenate(ends)


def colliders_of(obj: Any, context: Any) -> list[Any]:
    """Return the collider objects of a body.

    The list is empty if the body's collider collection contains no usable object. The overlay ignores this error, and
    the bake reports it.
    """
    try:
        return collider_objects(obj, context)
    except ColliderError:
        return []


def ground_points(obj: Any, positions: np.ndarray, distance: float = 0.0) -> np.ndarray:
    """Return a grid over the ground around the body, as ends (2l,3) of lines in world space.

    The result is empty without a ground, or if the distance is positive but too small to be seen.

    ``distance``: height of the grid above the ground.
    """
    collisions = obj.sinew.collisions
    if not collisions.use_ground or len(positions) == 0:
        return np.empty((0, 3))
    low, high = positions.min(axis=0), positions.max(axis=0)
    half, middle = 1.5 * float((high - low).max()), 0.5 * (low + high)
    if 0.0 < distance < SEEN * half:
        return np.empty((0, 3))
    ticks = np.linspace(-half, half, GRID + 1)
    along = np.array([(end, tick) for tick in ticks for end in (-half, half)])
    flat = np.concatenate([along, along[:, ::-1]]) + middle[:2]
    return np.column_stack([flat, np.full(len(flat), collisions.height + distance)])
