"""Visibility and display of the live body in a viewport."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
from sinew.blender_addon.drawing.display_mode import Manner, manner_of
from sinew.blender_addon.live import live_visibility


def context(**space):
    """A 3D View's, with the attributes of its space."""
    shown = SimpleNamespace(show_object_viewport_mesh=True, local_view=None)
    vars(shown).update(space)
    return SimpleNamespace(space_data=shown, region_data=object(), view_layer=bpy.context.view_layer)


def is_seen(obj, view, here=True):
    return live_visibility.is_seen(obj, SimpleNamespace(is_shown_in=lambda _: here), view)


def test_collections_hide_what_is_in_them_alone(body):
    layer = bpy.context.view_layer
    inner, outer = bpy.data.collections.new("Inner"), bpy.data.collections.new("Outer")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    inner.objects.link(body)
    for collection in list(body.users_collection):
        if collection != inner:
            collection.objects.unlink(body)
    body.hide_set(True)
    assert is_seen(body, context()), "hidden by us"
    over = layer.layer_collection.children["Outer"]
    for owner, name in ((over, "hide_viewport"), (outer, "hide_viewport"), (over.children["Inner"], "hide_viewport")):
        setattr(owner, name, True)
        layer.update()
        assert not is_seen(body, context()), (owner, name)
        setattr(owner, name, False)
        layer.update()
        assert is_seen(body, context())
    other = bpy.data.collections.new("Other")
    bpy.context.scene.collection.children.link(other)
    other.objects.link(body)
    outer.hide_viewport = True
    layer.update()
    assert is_seen(body, context()), "it is shown by the other one"


def test_viewports_differ(body):
    assert is_seen(body, context()) and not is_seen(body, context(), here=False)
    assert not is_seen(body, context(show_object_viewport_mesh=False))
    elsewhere = context()
    elsewhere.region_data = None
    assert not is_seen(body, elsewhere)
    asked = []
    evaluated = SimpleNamespace(local_view_get=lambda space: asked.append(space) or len(asked) > 1)
    local = SimpleNamespace(name=body.name, evaluated_get=lambda _depsgraph: evaluated)
    assert is_seen(local, context()) and not asked, "without a local view Blender raises"
    view = context(local_view=object())
    assert not is_seen(local, view) and is_seen(local, view) and asked == [view.space_data] * 2


def manner(obj, overlaid=False, **shading):
    """Return the display of an object in a viewport whose shading differs from Blender's default so."""
    own = {"type": "SOLID", "show_xray": False, "xray_alpha": 0.4, "wireframe_color_type": "THEME"}
    own |= {"show_xray_wireframe": True, "xray_alpha_wireframe": 0.2}
    overlay = SimpleNamespace(show_overlays=True, show_wireframes=overlaid)
    space = SimpleNamespace(shading=SimpleNamespace(**{**own, **shading}), overlay=overlay)
    return manner_of(obj, space, SimpleNamespace(wire=(0.0, 0.5, 1.0)))


def test_each_shading_has_its_manner(body):
    body.color = (0.1, 0.2, 0.3, 1.0)
    wire = (0.0, ((0.5 + 0.055) / 1.055) ** 2.4, 1.0)
    for kind in ("SOLID", "MATERIAL", "RENDERED"):
        assert manner(body, type=kind) == Manner()
        assert manner(body, type=kind, show_xray=True).opacity == (0.4 if kind == "SOLID" else 1.0)
    seen = manner(body, type="WIREFRAME")
    assert (seen.opacity, seen.behind) == (0.0, 0.8) and np.abs(np.subtract(seen.wires, wire)).max() < 1e-6
    assert manner(body, type="WIREFRAME", show_xray_wireframe=False).behind == 0.0
    own = manner(body, type="WIREFRAME", wireframe_color_type="OBJECT").wires
    assert np.abs(np.subtract(own, (0.1, 0.2, 0.3))).max() < 1e-6
    over = manner(body, overlaid=True)
    assert over.opacity == 1.0 and over.wires is not None
    body.display_type = "WIRE"
    assert manner(body)[0] == 0.0 and manner(body).wires is not None and manner(body).behind == 1.0
