"""Example scenes of Add > Sinew Examples, one module each with ``LABEL``, ``DESCRIPTION`` and ``build(stage)``.

Each scene is built from Blender's primitives in a new collection. Nothing else is changed.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import (
    armature_flesh,
    armoured_creature,
    beating_heart,
    closing_lips,
    coiling_snake,
    crawling_worm,
    curling_arm,
    hydrostatic_tongue,
    jelly_bear,
    jelly_plate,
    pile_of_jellies,
    side_by_side,
    six_muscle_face,
    squeezed_ball,
    squeezing_hand,
    turning_drum,
)
from .attached import balloon_animal, clay_car, cut_jelly, sliding_skin, torn_bread, tumbling_ragdoll
from .stage import Stage

EXAMPLES: dict[str, ModuleType] = {
    "jelly_bear": jelly_bear,
    "jelly_plate": jelly_plate,
    "armoured_creature": armoured_creature,
    "armature_flesh": armature_flesh,
    "side_by_side": side_by_side,
    "pile_of_jellies": pile_of_jellies,
    "squeezed_ball": squeezed_ball,
    "closing_lips": closing_lips,
    "squeezing_hand": squeezing_hand,
    "turning_drum": turning_drum,
    "coiling_snake": coiling_snake,
    "curling_arm": curling_arm,
    "crawling_worm": crawling_worm,
    "beating_heart": beating_heart,
    "six_muscle_face": six_muscle_face,
    "hydrostatic_tongue": hydrostatic_tongue,
    "tumbling_ragdoll": tumbling_ragdoll,
    "sliding_skin": sliding_skin,
    "balloon_animal": balloon_animal,
    "clay_car": clay_car,
    "cut_jelly": cut_jelly,
    "torn_bread": torn_bread,
}


def add(name: str, context: Any) -> Any:
    """Build the example ``name``, a key of ``EXAMPLES``, at the 3D cursor.

    Returns the example's body, which becomes the active and only selected object.
    """
    example = EXAMPLES[name]
    stage = Stage(context, example.LABEL)
    body = example.build(stage)
    for obj in context.view_layer.objects.selected[:]:
        obj.select_set(False)
    body.select_set(True)
    context.view_layer.objects.active = body
    return body
