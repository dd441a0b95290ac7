"""Odd pins, maps, materials and settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from . import cube, enabled, mesh, pinned, specimen, together


def body() -> Any:
    return enabled(mesh(*cube()))


def grouped(weight: float, count: int = 8) -> Any:
    obj = body()
    obj.vertex_groups.new(name="Pins").add(list(range(count)), weight, "REPLACE")
    obj.sinew.pin_group = "Pins"
    return obj


@specimen("no pins", falls=True)
def free(folder: Path) -> Any:
    return body()


@specimen("a pin group full of zero", warning="No pins: the body will fall", falls=True)
def zeros(folder: Path) -> Any:
    return grouped(0.0)


@specimen("an empty pin group", warning="No pins: the body will fall", falls=True)
def no_members(folder: Path) -> Any:
    return grouped(1.0, 0)


@specimen("everything pinned", refused="The vertices of all faces are pinned")
def all_pinned(folder: Path) -> Any:
    return grouped(1.0)


@specimen("one vertex pinned")
def one_pin(folder: Path) -> Any:
    return grouped(1.0, 1)


@specimen("a weight that is not a number", refused="vertex 2.*not a number")
def nan_weight(folder: Path) -> Any:
    obj = grouped(1.0, 4)
    attribute = obj.data.vertices[2].groups[0]
    attribute.weight = float("nan")
    return obj


@specimen("pins on one of two islands", warning="no pin")
def one_island(folder: Path) -> Any:
    obj = pinned(mesh(*together(cube(), cube(at=(3.0, 0.0, 0.0)))))
    obj.sinew.cells_across = 12
    return obj


@specimen("a map full of zero for the only material")
def zero_map(folder: Path) -> Any:
    obj = pinned(mesh(*cube()))
    obj.vertex_groups.new(name="Map").add(list(range(8)), 0.0, "REPLACE")
    obj.sinew.materials[0].vertex_group = "Map"
    return obj


@specimen("the pins' group as a map, too")
def same_group(folder: Path) -> Any:
    obj = pinned(mesh(*cube()))
    bpy.ops.sinew.add_material(preset="Bone")
    obj.sinew.materials[1].vertex_group = "Pins"
    return obj


@specimen("bone and jelly at neighbouring vertices")
def contrast(folder: Path) -> Any:
    obj = pinned(mesh(*cube()))
    bpy.ops.sinew.add_material(preset="Bone")
    obj.vertex_groups.new(name="Hard").add([4, 5, 6, 7], 1.0, "REPLACE")
    obj.sinew.materials[1].vertex_group = "Hard"
    obj.sinew.materials[0].log_stiffness, obj.sinew.materials[1].log_stiffness = 2.0, 12.0
    return obj


@specimen("no physical material", refused="physical material")
def no_material(folder: Path) -> Any:
    obj = body()
    obj.sinew.materials.clear()
    return obj


@specimen("an empty frame range", refused="frame range")
def no_frames(folder: Path) -> Any:
    obj = body()
    obj.sinew.frame_end = -5
    return obj


@specimen("a pin group that is gone", refused="“Gone” does not exist")
def gone(folder: Path) -> Any:
    obj = body()
    obj.sinew.pin_group = "Gone"
    return obj


@specimen("more tetrahedra than fit", refused="million tetrahedra|memory")
def too_fine(folder: Path) -> Any:
    obj = body()
    obj.sinew.cells_across = 10_000
    return obj


def _material(name: str, change: Callable[[Any], None], **expected: Any) -> None:
    @specimen(name, **expected)
    def with_material(folder: Path) -> Any:
        obj = pinned(mesh(*cube()))
        change(obj.sinew.materials[0])
        return obj


def _stiffness(pascals: float) -> Callable[[Any], None]:
    return lambda material: setattr(material, "log_stiffness", math.log10(pascals))


_material("1 Pa", _stiffness(1.0))
_material("1e14 Pa", _stiffness(1e14))
_material("nothing of density", lambda material: setattr(material, "density", 0.0))
_material("1e6 kg/m³", lambda material: setattr(material, "density", 1e6))
_material("Poisson's ratio of 0", lambda material: setattr(material, "poissons_ratio", 0.0))
_material("as good as incompressible", lambda material: setattr(material, "poissons_ratio", 0.5))


@specimen("gravity of a thousand Earths")
def gravity(folder: Path) -> Any:
    bpy.context.scene.gravity = (0.0, 0.0, -9810.0)
    return pinned(mesh(*cube()))


@specimen("no gravity")
def no_gravity(folder: Path) -> Any:
    bpy.context.scene.use_gravity = False
    return pinned(mesh(*cube()))


@specimen("240 frames a second, 50 substeps")
def fast(folder: Path) -> Any:
    bpy.context.scene.render.fps = 240
    obj = pinned(mesh(*cube()))
    obj.sinew.substeps = 50
    return obj


@specimen("one frame a second")
def slow(folder: Path) -> Any:
    bpy.context.scene.render.fps = 1
    return pinned(mesh(*cube()))


@specimen("within its own collider")
def collider_around(folder: Path) -> Any:
    collection = bpy.data.collections.new("Obstacles")
    bpy.context.scene.collection.children.link(collection)
    around = mesh(*cube(0.6, (0.2, 0.2, 0.2)), name="Around")
    bpy.context.scene.collection.objects.unlink(around)
    collection.objects.link(around)
    obj = pinned(mesh(*cube()))
    obj.sinew.collisions.collection = collection
    return obj


@specimen("the ground above it")
def buried(folder: Path) -> Any:
    obj = pinned(mesh(*cube()))
    obj.sinew.collisions.use_ground, obj.sinew.collisions.height = True, 0.5
    return obj
