"""Panels in other languages: their labels are translated, and no label is wider than its place."""

from types import SimpleNamespace

import blf
import bpy

LABEL, FIELD = 0.4, 0.6
"""Widths of a property's label and of its field, as fractions of a panel of two columns."""
PADDING, ICON = 12, 20
"""Space beside a text in a label or button, and width of an icon. Unit: pixels at a UI scale of 1."""


class Drawn:
    """Layout in place of ``UILayout`` that keeps the texts with limited room: English text, shown text, fraction of the
    panel's width, and number of icons beside the text.
    """

    def __init__(self, texts, share=1.0):
        self._texts, self._share, self._row = texts, share, False
        self.use_property_split = True

    def child(self, *_, **__):
        found = Drawn(self._texts, self._share)
        found.use_property_split = self.use_property_split
        return found

    column = box = child

    def row(self, *_, heading="", **__):
        found = self.child()
        found._row = True
        return found

    def split(self, *_, **__):
        return Drawn([])

    grid_flow = column_flow = split

    def prop(self, owner, name, text=None, translate=True, **options):
        prop = owner.bl_rna.properties[name]
        words = prop.name if text is None else text
        if not words.strip() or not self.use_property_split or options.get("slider"):
            return
        shown = bpy.app.translations.pgettext_iface(words, prop.translation_context) if translate else words
        has_box = prop.type == "BOOLEAN" and not options.get("toggle") and not prop.is_array
        self._texts.append((words, shown, *((FIELD, 1) if has_box else (LABEL, 0))))
        if prop.type == "ENUM" and not options.get("expand"):
            for item in prop.enum_items:
                words = bpy.app.translations.pgettext_iface(item.name, prop.translation_context)
                self._texts.append((item.name, words, FIELD, 2 if item.icon != "NONE" else 1))

    def prop_search(self, owner, name, *_, **options):
        self.prop(owner, name, **options)

    def operator(self, name, text=None, icon="NONE", **_):
        cls = getattr(bpy.types, "SINEW_OT_" + name.partition(".")[2], None)
        words = text if text is not None or cls is None else cls.bl_label
        if words and not self._row:
            shown = bpy.app.translations.pgettext_iface(words, "Sinew")
            self._texts.append((words, shown, 1.0, icon != "NONE"))
        return SimpleNamespace()

    def label(self, text="", translate=True, icon="NONE", **_):
        if text and not self._row:
            shown = bpy.app.translations.pgettext_iface(text) if translate else text
            self._texts.append((text, shown, 1.0, icon != "NONE"))

    def nothing(self, *_, **__):
        return None

    prop_decorator = template_list = menu = separator = progress = nothing


def texts_of(gui):
    """Return the texts of all panels of the active body, as :class:`Drawn` keeps them."""
    found = []
    for cls in gui.module("ui").CLASSES:
        if getattr(cls, "bl_idname", "").startswith(("VIEW3D_PT_sinew", "PHYSICS_PT_sinew")):
            poll = getattr(cls, "poll", None)
            if poll is None or poll(bpy.context):
                shown = bpy.app.translations.pgettext_iface(cls.bl_label, "Sinew")
                found.append((cls.bl_label, shown, 1.0, 3))
                cls.draw(SimpleNamespace(layout=Drawn(found)), bpy.context)
    return list(dict.fromkeys(found))


def too_wide(gui, texts):
    """Return the texts that are cut off in the sidebar at its default width, though the English text is narrower."""
    scale = bpy.context.preferences.system.ui_scale
    width = gui.region("UI").width - 40 * scale
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points * scale)
    found = []
    for english, shown, share, icons in texts:
        room = 1.03 * (share * width - (PADDING + ICON * icons) * scale)
        if blf.dimensions(0, shown)[0] > max(room, blf.dimensions(0, english)[0]):
            found.append(f"{english} = {shown} ({blf.dimensions(0, shown)[0] / room:.2f})")
    return found


def make_body(gui):
    """Make a body with an item in every list, and settings that show most properties."""
    with gui.context():
        gui.clear()
        bpy.ops.mesh.primitive_monkey_add()
        bpy.ops.sinew.enable()
        for name in ("add_spring", "add_pair", "add_tie"):
            getattr(bpy.ops.sinew, name)()
        bpy.ops.sinew.add_material(preset="Bone")
    obj = bpy.context.view_layer.objects.active
    material = obj.sinew.materials[1]
    material.use_range, material.depth_kind, material.yield_strain, material.muscle.enabled = True, "SHELL", 0.1, True
    material.muscle.tendon = 0.1
    group = obj.vertex_groups.new(name="Pins")
    group.add([0, 1, 2], 1.0, "REPLACE")
    settings = obj.sinew
    settings.pin_group, settings.use_goal, settings.refine_group = "Pins", True, "Pins"
    settings.solver, settings.match_resolution, settings.use_scene_range = "subspace_mixed_fem", True, False
    settings.cuts.tear = "FRAGMENTS"
    settings.collisions.use_ground = settings.collisions.self_contact = True
    return obj


def scenario(gui):
    make_body(gui)
    yield from gui.show_sidebar("Sinew")
    for language in gui.parameters["languages"]:
        gui.scenario("language").speak(language)
        yield from gui.settle()
        with gui.context(region="UI"):
            texts = texts_of(gui)
            gui.record(f"{language} texts", [english for english, shown, *_ in texts if shown != english])
            gui.record(language, too_wide(gui, texts))
        yield from gui.photograph(f"{language}-sidebar")
        for name in gui.parameters["panels"]:
            with gui.scenario("manual").alone(gui, name):
                yield from gui.settle()
                yield from gui.photograph(f"{language}-{name}")
