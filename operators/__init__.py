"""One verb a file; each module lists its classes in ``CLASSES``."""

from . import (
    add_material,
    add_spring,
    apply_bake,
    apply_take,
    assign_pins,
    bake,
    check_bake,
    convert_result,
    copy_report,
    delete_bake,
    disable,
    enable,
    live_choose_solver,
    live_grab,
    live_play,
    live_record,
    live_reset,
    live_step,
    live_stop,
    move_material,
    move_spring,
    open_report,
    paint_material,
    paint_stroke,
    remove_material,
    remove_spring,
    resume_bake,
    select_pins,
    show_stiffness,
    stop_bake,
    tetrahedralize,
)

MODULES = (
    enable, disable, add_material, remove_material, move_material, show_stiffness, paint_material, paint_stroke,
    assign_pins, select_pins, add_spring, remove_spring, move_spring,
    tetrahedralize, apply_bake, bake, stop_bake, resume_bake, delete_bake, convert_result, check_bake, open_report,
    copy_report, live_choose_solver, live_play, live_step, live_reset, live_record, live_stop, live_grab, apply_take,
)  # fmt: skip
CLASSES = tuple(cls for module in MODULES for cls in module.CLASSES)
