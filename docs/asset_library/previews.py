"""Previews of assets: renders by Cycles, since Blender makes none without a window."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

PIXELS, SAMPLES = 128, 48
EYE = Vector((0.55, -1.0, 0.5))
"""Direction of the camera."""
LIGHTS = (((-1.2, -1.0, 1.6), 15.0, 1.4), ((1.5, -0.3, 0.9), 5.0, 1.6), ((0.4, 1.3, 1.2), 16.0, 1.0))
"""Position, power and size of the lamps around a subject of size 1."""
_STAND_INS = "Ball", "Map"
"""Names of meshes that are rounder than the diagonal of their bounding box."""
MARK = (0.16, 0.55, 0.62)
"""Colour of full weight in the previews of node groups."""


def set_preview(block: Any) -> None:
    """Render the preview of a material, a body or a node group."""
    if isinstance(block, bpy.types.Material):
        subject = _ball(block)
    elif isinstance(block, bpy.types.Object):
        subject = block
    else:
        subject = _weighted(block)
    pixels = _render(subject)
    preview = block.preview_ensure()
    preview.image_size = (PIXELS, PIXELS)
    preview.image_pixels_float.foreach_set(pixels.ravel())
    if subject != block:
        mesh = subject.data
        bpy.data.objects.remove(subject)
        bpy.data.meshes.remove(mesh)


def _ball(material: Any) -> Any:
    """Return a ball with a dent in its front, which shows gloss and translucence."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=0.5)
    ball = bpy.context.object
    places = np.array([vertex.co for vertex in ball.data.vertices])
    near = np.linalg.norm(places - [0.3, -0.3, 0.32], axis=1, keepdims=True)
    places *= 1.0 - 0.22 * np.exp(-((near / 0.22) ** 2))
    ball.data.vertices.foreach_set("co", places.astype(np.float32).ravel())
    ball.data.name = "Ball"
    ball.data.shade_smooth()
    ball.data.materials.append(material)
    return ball


def _weighted(group: Any) -> Any:
    """Return a monkey whose colour shows the attribute that a node group stores."""
    bpy.ops.mesh.primitive_monkey_add(size=1.0)
    monkey = bpy.context.object
    monkey.modifiers.new("Subdivision", "SUBSURF").levels = 3
    modifier = monkey.modifiers.new("Map", "NODES")
    modifier.node_group = group
    sockets = {item.name: item for item in group.interface.items_tree if getattr(item, "in_out", "") == "INPUT"}
    name = sockets["Attribute"].default_value
    target = None
    if "Object" in sockets:
        target = bpy.data.objects.new("Target", bpy.data.meshes.new("Target"))
        target.data.from_pydata([(0.35, -0.2, 0.2), (0.36, -0.2, 0.2), (0.35, -0.21, 0.2)], [], [(0, 1, 2)])
        bpy.context.collection.objects.link(target)
        modifier[sockets["Object"].identifier] = target
    graph = bpy.context.evaluated_depsgraph_get()
    mesh = bpy.data.meshes.new_from_object(monkey.evaluated_get(graph), depsgraph=graph)
    for each in filter(None, (monkey, target)):
        bpy.data.objects.remove(each)
    mesh.materials.append(_shown(name))
    mesh.shade_smooth()
    mesh.name = "Map"
    subject = bpy.data.objects.new("Map", mesh)
    bpy.context.collection.objects.link(subject)
    return subject


def _shown(name: str) -> Any:
    material = bpy.data.materials.new("Map")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    attribute, mix = nodes.new("ShaderNodeAttribute"), nodes.new("ShaderNodeMix")
    attribute.attribute_name, mix.data_type = name, "RGBA"
    colours = [socket for socket in mix.inputs if socket.type == "RGBA"]
    colours[0].default_value, colours[1].default_value = (0.75, 0.74, 0.72, 1.0), (*MARK, 1.0)
    links.new(attribute.outputs["Fac"], mix.inputs[0])
    links.new(next(socket for socket in mix.outputs if socket.type == "RGBA"), surface.inputs["Base Color"])
    return material


def _render(subject: Any) -> np.ndarray:
    """Return the pixels (PIXELS, PIXELS, 4) of a picture of one object, with a transparent background."""
    scene = bpy.data.scenes.new("Preview")
    scene.collection.objects.link(subject)
    bpy.context.view_layer.update()
    corners = [subject.matrix_world @ Vector(corner) for corner in subject.bound_box]
    middle = sum(corners, Vector()) / 8.0
    size = (0.75 if subject.data.name in _STAND_INS else 0.95) * max((a - b).length for a in corners for b in corners)
    added = [_camera(scene, middle, size), *(_lamp(scene, middle, size, *lamp) for lamp in LIGHTS)]
    scene.world = bpy.data.worlds.new("Preview")
    scene.world.use_nodes = True
    light = next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND")
    light.inputs["Color"].default_value, light.inputs["Strength"].default_value = (0.9, 0.95, 1.0, 1.0), 0.3
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", SAMPLES, True
    scene.render.film_transparent = True
    scene.render.resolution_x = scene.render.resolution_y = PIXELS
    scene.render.image_settings.color_mode = "RGBA"
    scene.view_settings.view_transform = "Standard"
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = str(Path(folder) / "preview.png")
        bpy.ops.render.render(write_still=True, scene=scene.name)
        image = bpy.data.images.load(scene.render.filepath)
        pixels = np.array(image.pixels[:], dtype=np.float32).reshape(PIXELS, PIXELS, 4)
        bpy.data.images.remove(image)
    world = scene.world
    bpy.data.scenes.remove(scene)
    bpy.data.worlds.remove(world)
    for obj in added:
        bpy.data.objects.remove(obj)
    return pixels


def _camera(scene: Any, middle: Vector, size: float) -> Any:
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = 60.0
    camera.location = middle + EYE.normalized() * size * 1.9
    camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    return camera


def _lamp(scene: Any, middle: Vector, size: float, at: tuple[float, ...], power: float, width: float) -> Any:
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "AREA"))
    lamp.location = middle + size * Vector(at)
    lamp.rotation_euler = (middle - lamp.location).to_track_quat("-Z", "Y").to_euler()
    lamp.data.energy, lamp.data.size = power * size**2, width * size
    scene.collection.objects.link(lamp)
    return lamp
