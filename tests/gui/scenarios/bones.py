"""The two bones of an armature: bodies by a button, a limp arm, a bake in the background, the action and the panels."""

import bpy


def make_arm(gui):
    """An armature of two connected bones along x, which a keyed wave raises."""
    with gui.context():
        gui.clear()
        bpy.ops.object.armature_add(location=(0.0, 0.0, 1.0))
        rig = bpy.context.object
        bpy.ops.object.mode_set(mode="EDIT")
        bones = rig.data.edit_bones
        upper = bones[0]
        upper.name, upper.tail = "Upper", (0.5, 0.0, 0.0)
        lower = bones.new("Lower")
        lower.head, lower.tail, lower.parent, lower.use_connect = upper.tail, (1.0, 0.0, 0.0), upper, True
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.wm.save_as_mainfile(filepath=str(gui.session / "bones.blend"))
    rig.pose.bones["Lower"].lock_ik_y = rig.pose.bones["Lower"].lock_ik_z = True
    bpy.context.scene.frame_end = 12
    view = gui.area().spaces.active.region_3d
    view.view_perspective, view.view_distance, view.view_location = "PERSP", 3.0, (0.5, 0.0, 0.9)
    return rig


def scenario(gui):
    running = gui.module("blender_addon.jobs.job_queue")
    rig = make_arm(gui)
    yield from gui.show_sidebar("Sinew")
    yield from gui.photograph("1-armature")
    with gui.context():
        bpy.ops.sinew.add_bone_bodies("INVOKE_DEFAULT")
    gui.record("bodies", sorted(each.name for each in rig.children))
    body = next(each for each in rig.children if each.parent_bone == "Lower")
    rig.data.sinew.follow = 1.0
    body.sinew.joint.follow = 0.0
    with gui.context():
        rig.select_set(False)
        body.select_set(True)
        bpy.context.view_layer.objects.active = body
    yield from gui.scenario("manual").photograph_alone(gui, "joint")
    with gui.context():
        bpy.context.view_layer.objects.active = rig
        bpy.ops.sinew.bake_bones("INVOKE_DEFAULT")
    yield from gui.wait_until(running.is_idle, 240, "both are baked")
    gui.record("baked", [[obj.sinew.bake.status, obj.sinew.bake.frames] for obj in rig.children])
    gui.record("action", rig.animation_data.action.name)
    bpy.context.scene.frame_set(12)
    yield from gui.settle()
    yield from gui.photograph("2-baked")
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    gui.record("tails", [(seen.matrix_world @ bone.tail).z for bone in seen.pose.bones])
    with gui.context():
        bpy.ops.ed.undo()
    gui.record("undone", bpy.data.objects["Armature"].animation_data is None or not bpy.data.actions)
