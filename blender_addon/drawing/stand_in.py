"""Stand-in: a temporary mesh object that live mode moves if the GPU preview is not used."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..objects.duplicate_result import local_views_of, show_in_local_views


class StandIn:
    """Temporary mesh object at the world's origin with the body's vertices.

    An undo may remove the object. The next :meth:`move` creates the object again.

    Parameters
    ----------
    obj : the body, for its name, colour, materials and local views
    scene : scene that gets the object
    triangles : (t,3), triangles of the body's surface
    metres : length of a Blender unit
    """

    def __init__(self, obj: Any, scene: Any, triangles: np.ndarray, metres: float = 1.0) -> None:
        self._name, self._scene_uid, self._body_uid = f"{obj.name} Live", scene.session_uid, obj.session_uid
        self._colour, self._materials = tuple(obj.color), [slot.material for slot in obj.material_slots][:1]
        self._materials = [m.name for m in self._materials if m is not None]
        self._triangles, self._metres = triangles, metres
        self.uid: int | None = None

    @property
    def is_there(self) -> bool:
        """True if the stand-in (temporary mesh object) is in the .blend."""
        return find(self.uid) is not None

    def move(self, positions: np.ndarray) -> None:
        """Move the vertices of the stand-in (temporary mesh object) in world space.

        A stand-in that is missing or has another number of vertices is created first.

        ``positions`` (n,3), m: vertex positions.
        """
        obj = find(self.uid)
        if obj is None or len(obj.data.vertices) != len(positions):
            self.remove()
            obj = self._make(len(positions))
        obj.data.vertices.foreach_set("co", (positions / self._metres).astype(np.float32).ravel())
        obj.data.update()

    def remove(self) -> None:
        """Remove the stand-in (temporary mesh object) from the .blend, if present."""
        if (obj := find(self.uid)) is not None:
            delete(obj)
        self.uid = None

    def _make(self, count: int) -> Any:
        mesh = bpy.data.meshes.new(self._name)
        mesh.from_pydata(np.zeros((count, 3)), [], self._triangles.tolist())
        mesh.polygons.foreach_set("use_smooth", np.ones(len(self._triangles), dtype=bool))
        for name in self._materials:
            if (material := bpy.data.materials.get(name)) is not None:
                mesh.materials.append(material)
        obj = bpy.data.objects.new(self._name, mesh)
        obj.color, obj.hide_select, obj.hide_render = self._colour, True, True
        obj.sinew.is_stand_in = True
        scene = next(s for s in bpy.data.scenes if s.session_uid == self._scene_uid)
        scene.collection.objects.link(obj)
        self.uid = obj.session_uid
        body = next((o for o in scene.objects if o.session_uid == self._body_uid), None)
        if body is not None:
            show_in_local_views(obj, local_views_of(body))
        return obj


def find(uid: int | None) -> Any | None:
    """Return the stand-in (temporary mesh object) with the ``session_uid`` ``uid``, or None."""
    return next((o for o in bpy.data.objects if o.session_uid == uid and o.sinew.is_stand_in), None)


def delete(obj: Any) -> None:
    """Remove a stand-in (temporary mesh object) and its mesh from the file."""
    mesh = obj.data
    bpy.data.objects.remove(obj)
    if mesh is not None and mesh.users == 0:
        bpy.data.meshes.remove(mesh)


def delete_strays(but: int | None = None) -> None:
    """Remove stand-ins (temporary mesh objects) that an undo or a loaded file has brought back.

    ``but``: ``session_uid`` of the stand-in that is in use and stays.
    """
    for obj in [o for o in bpy.data.objects if o.sinew.is_stand_in and o.session_uid != but and o.library is None]:
        delete(obj)
