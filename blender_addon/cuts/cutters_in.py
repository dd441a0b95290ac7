"""Cutters of a body, read from the scene in the body's local space."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.foundation.errors import CutError
from ...core.geometry.cuts.cutter import Cutter
from ..objects.linked import out_of_view
from ..objects.modifier_stack import shown
from ..scene_import.animation_in import at_frame
from ..scene_import.mesh_in import changed_mesh, columns_of, mesh_of, transform, triangles_of, vertex_positions

BETWEEN = 4
"""Intervals into which a frame is divided if the cutter moves far in it."""


def cutter_objects(obj: Any) -> list[Any]:
    """Return the cutters of a body, sorted by name. The body itself is left out."""
    cuts = obj.sinew.cuts
    if cuts.cutter_kind == "OBJECT":
        return [cuts.cutter] if cuts.cutter is not None else []
    objects = () if cuts.cutters is None else cuts.cutters.all_objects
    return sorted((o for o in objects if o.type in {"MESH", "CURVE"} and o != obj), key=lambda o: o.name)


def read_cutters(obj: Any, context: Any, frames: tuple[int, int], far: float) -> tuple[Cutter, ...]:
    """Return the cutters of a body over a range of frames, both ends included.

    Positions are in the local space of the body at the first frame. ``far``: motion in a frame, in that space, above
    which the cutter is read between frames, too. Raises CutError if a cutter has no geometry, changes its mesh or is
    not in the view layer.
    """
    objects, scene = cutter_objects(obj), context.scene
    if not objects:
        return ()
    with at_frame(scene, frames[0]), shown(*objects):
        graph = context.evaluated_depsgraph_get()
        to_body = np.linalg.inv(np.array(obj.evaluated_get(graph).matrix_world, dtype=np.float64))
        first = {each: _first_mesh(each, graph) for each in objects}
        samples: dict[float, list[np.ndarray]] = {}

        def sample(frame: float) -> list[np.ndarray]:
            scene.frame_set(int(frame), subframe=frame - int(frame))
            graph = context.evaluated_depsgraph_get()
            return [_positions(each, graph, to_body, len(first[each][0]), frame) for each in objects]

        for frame in range(frames[0], frames[1] + 1):
            samples[float(frame)] = sample(float(frame))
        for frame in range(frames[0], frames[1]):
            moved = max(
                np.abs(after - before).max(initial=0.0)
                for before, after in zip(samples[float(frame)], samples[float(frame + 1)])
            )
            for part in range(1, BETWEEN if moved > far else 1):
                samples[frame + part / BETWEEN] = sample(frame + part / BETWEEN)
    times = np.array(sorted(samples))
    return tuple(
        Cutter(each.name, np.array([samples[time][k] for time in times.tolist()]), *first[each][1:], times)
        for k, each in enumerate(objects)
    )


def _first_mesh(cutter: Any, graph: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the vertex positions, triangles and loose edges of a cutter at the first frame."""
    evaluated = cutter.evaluated_get(graph)
    if not evaluated.is_evaluated:
        raise out_of_view(f"The cutter “{cutter.name}”", CutError)
    with mesh_of(evaluated) as mesh:
        if mesh is None or not len(mesh.edges):
            raise CutError(f"The cutter “{cutter.name}” has neither faces nor edges.", "Give it a blade, or a wire.")
        edges, triangles = columns_of(mesh.edges, "vertices", 2, np.int32), triangles_of(mesh, False)
        of_faces = columns_of(mesh.loops, "edge_index", 1, np.int32)[:, 0]
        return vertex_positions(mesh), triangles, np.delete(edges, of_faces, axis=0)


def _positions(cutter: Any, graph: Any, to_body: np.ndarray, count: int, frame: float) -> np.ndarray:
    evaluated = cutter.evaluated_get(graph)
    with mesh_of(evaluated) as mesh:
        found = np.empty((0, 3)) if mesh is None else vertex_positions(mesh)
    if len(found) != count:
        message, remedy = changed_mesh(count, len(found), frame)
        raise CutError(f"The cutter “{cutter.name}” {message}.", remedy)
    return transform(to_body @ np.array(evaluated.matrix_world, dtype=np.float64), found)
