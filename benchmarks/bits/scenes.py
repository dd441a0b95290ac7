"""Scenes: a bent bar of 0.4 m, soft with a stiff end, held and shaken, with one or two features each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...core.geometry.mesh.topology import boundary_triangles
from ..bodies import block
from .library import (
    DIRECT_NAMES,
    ENERGY_NAMES,
    INTEGRATOR_NAMES,
    SOLVER_NAMES,
    Hand,
    Parts,
    Scene,
    Shape,
    one_of,
    scene,
)

FRAMES = 6
SUBSPACES = ("subspace_mixed_fem", "subspace_fem")
TIME = np.arange(FRAMES)[:, None, None]
"""Frame numbers, to be multiplied with positions."""
UP = np.array([0.0, 0.0, 1.0])


def _bent() -> Shape:
    """Return a closed bar along x, tapered and bent, so that nothing in it is symmetric."""
    mesh = block((8, 2, 2), (0.4, 0.1, 0.1))
    used, triangles = np.unique(boundary_triangles(mesh.tets), return_inverse=True)
    x, y, z = mesh.rest_positions[used].T
    thin = 1.0 - 0.8 * x
    return np.column_stack([x, thin * y + 0.5 * x**2, thin * z + 0.02 * np.sin(9.0 * x)]), triangles.reshape(-1, 3)


BAR = _bent()
X = BAR[0]
HELD, FAR = np.flatnonzero(X[:, 0] < 1e-9), np.flatnonzero(X[:, 0] > 0.39)
SQUARE = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
MATERIALS: tuple[Parts, ...] = (
    {"youngs_modulus": 5e4},
    {"youngs_modulus": 1e8, "poissons_ratio": 0.3, "density": 1500.0},
)
WEIGHTS = np.column_stack([X[:, 0] <= 0.25, X[:, 0] > 0.25]).astype(float)


def _shaken(steps: int = 1) -> np.ndarray:
    """Return the track of the held vertices, with ``steps`` samples per frame."""
    times = np.arange((FRAMES - 1) * steps + 1) / steps
    return X[HELD] + 0.03 * np.sin(times)[:, None, None] * np.array([0.2, 1.0, 0.7])


def held(**parts: object) -> Callable[[], Scene]:
    """Return the bar, held and shaken."""
    return partial(scene, BAR, **{"materials": MATERIALS, "weights": WEIGHTS, "pins": (HELD, _shaken()), **parts})


def free(**parts: object) -> Callable[[], Scene]:
    """Return the bar without pins."""
    return held(pins=None, **parts)


def dragged_on_ground(**settings: object) -> Callable[[], Scene]:
    """Return the free bar on ground, pulled along it."""
    return free(ground={"height": -0.01, "friction": 0.3}, solver={"gravity": (4.0, 1.0, -9.0), **settings})


def _plate(**options: float) -> Parts:
    """Return a plate under the bar that rises and slides."""
    way = 0.012 * TIME * UP + 0.02 * np.sin(TIME) * np.array([1.0, 0.5, 0.0])
    return {"triangles": FACES, "positions": SQUARE - 0.03 * UP + way, **options}


def _hook() -> Parts:
    """Return springs that pull the far end up and sideways, and are released during the bake."""
    targets = X[FAR] + TIME * np.array([0.0, 0.01, 0.02])
    stiffness = np.where(np.arange(FRAMES) < 4, 200.0, 0.0)
    return {"vertices": FAR, "weights": np.linspace(1.0, 2.0, len(FAR)), "targets": targets, "stiffness": stiffness}


def _fields() -> list[Parts]:
    """Return fields of every shape and kind, all strong; the wind passes through the absorber."""
    noise = np.random.default_rng(5).standard_normal((3, 3, 3, 3))
    sheet = {"vertices": (SQUARE + 0.3 * UP)[None] - 0.02 * TIME * UP, "triangles": FACES, "seed": 7}
    return [
        {"form": ("WIND", "PLANE"), "numbers": {"strength": 8.0, "flow": 0.5}, "centre": -UP, "absorbers": (0,)},
        {"form": ("FORCE", "SURFACE"), "numbers": {"strength": 2.0, "power": 1.0, "noise": 0.5}, "centre": 0 * UP}
        | sheet,
        {"form": ("FORCE", "POINT", "CONE", "POSITIVE", True), "numbers": {"strength": 1.0}, "centre": -0.5 * UP},
        {"form": ("VORTEX", "LINE"), "numbers": {"strength": 2.0, "distance_max": 0.3}, "centre": (0.2, 0.0, 0.0)},
        {"form": ("MAGNET",), "numbers": {"strength": 3.0}, "centre": (0.1, 0.3, 0.2)},
        {"form": ("HARMONIC",), "numbers": {"strength": 30.0, "damping": 0.5, "rest_length": 0.1}, "centre": 0.2 * UP},
        {"form": ("CHARGE", "POINTS"), "numbers": {"strength": -1.0}, "centre": 0 * UP, "vertices": SQUARE[None]}
        | {"normals": np.tile(UP, (1, 4, 1))},
        {"form": ("DRAG", "POINT", "TUBE"), "numbers": {"strength": 0.5, "damping": 1.0}, "centre": 0 * UP},
        {"form": ("TURBULENCE",), "numbers": {"strength": 1.0}, "centre": 0 * UP, "samples": 5.0 * noise[None]}
        | {"low": np.full(3, -0.2), "high": np.full(3, 0.6)},
    ]


def _in_fields(**parts: object) -> Callable[[], Scene]:
    sheet = {"triangles": FACES, "positions": 0.3 * SQUARE - 0.2 * UP + 0.1 * TIME, "absorption": np.array([0.7])}
    return held(fields=_fields(), absorbers=[sheet], **parts)


def _let_go() -> np.ndarray:
    """Release half of the pins at the fourth frame, all at the sixth."""
    is_held = np.ones((FRAMES, len(HELD)), dtype=bool)
    is_held[3:, ::2] = False
    is_held[5:] = False
    return is_held


def _softening() -> np.ndarray:
    """Return the moduli of the two materials over the frames, Pa."""
    return np.array([[5e4, 1e8]]) * np.geomspace(1.0, [0.2, 1e-2], FRAMES)


def _layered(**parts: object) -> Callable[[], Scene]:
    """Return a bar with painted stiffness, a core, a fading skin on half of it, and a stiff ball inside."""
    part = X[:, 0] / X[:, 0].max()
    kinds = ({"youngs_modulus": 3e4, "painted_modulus": 3e5}, {"youngs_modulus": 1e7}, {"youngs_modulus": 5e5})
    ball = 0.4 * (X - X.mean(axis=0)) + X.mean(axis=0), BAR[1]
    skin, core = {"kind": "shell", "depth": 0.01, "fade": 0.01}, {"kind": "core", "depth": 0.03}
    return held(
        materials=kinds,
        weights=None,
        stiffness_maps=np.column_stack([part, 0.0 * part, 0.0 * part]),
        layers=[
            {"material": 2, "depth": core},
            {"material": 1, "shapes": [ball]},
            {"material": 2, "depth": skin, "cover": part},
        ],
        refinement=part,
        **parts,
    )


def _islands(**parts: object) -> Callable[[], Scene]:
    """Return three bars side by side, of which the first is held; equal ones would have modes in arbitrary order."""
    places = [np.array([0.0, 0.2 * k, 0.05 * k]) for k in range(3)]
    shape = (
        np.vstack([(1.0 + 0.1 * k) * X + place for k, place in enumerate(places)]),
        np.vstack([BAR[1] + k * len(X) for k in range(3)]),
    )
    return partial(scene, shape, **{"pins": (HELD, _shaken()), "ground": {"height": -0.02}, **parts})


def _by_hand(**parts: object) -> Callable[[], Scene]:
    """Return a scene with two grabbed vertices, one released and grabbed again; the stiffness changes."""
    tip, middle = int(np.argmax(X[:, 0])), int(np.argmin(np.abs(X[:, 0] - 0.2)))
    pulls = [(tip, X[tip] + 0.02 * k * np.array([0.0, 1.0, 0.5]), 40.0 + k) for k in range(1, 8)]
    aside = (middle, X[middle] + 0.03 * UP, 80.0)
    grabs = [pulls[:1], [pulls[1], aside], [aside], pulls[3:4], pulls[4:5], [], pulls[6:]]
    moduli = {4: (2e4, 5e7)} if parts["solver"]["solver"] in SUBSPACES else {}
    return held(hand=Hand(grabs, moduli), colliders=[_plate()], **parts)


def _subspace(**settings: object) -> Parts:
    return {"solver": "subspace_mixed_fem", **settings}


def _one_of_three() -> Scene:
    """Return the scene of ``collider_subspace``."""
    others = free(springs=[_hook()], solver={"substeps": 2}), _in_fields()
    ours = held(colliders=[_plate()], ground={"height": -0.02}, solver=_subspace())
    return one_of(1, others[0](), ours(), others[1]())


EACH_SOLVER = {
    f"{solver}_{integrator}": held(solver={"solver": solver, "integrator": integrator})
    for solver in SOLVER_NAMES
    for integrator in INTEGRATOR_NAMES
}
EACH_ENERGY = {
    f"{energy}_{solver}": held(
        materials=[{**each, "energy": energy} for each in MATERIALS],
        solver={"solver": solver},
        resolution={"cells_across": 8},
    )
    for energy in ENERGY_NAMES
    for solver in ("mixed_fem", "newton", "subspace_mixed_fem")
}
EACH_LINEAR_SOLVER = {name: held(solver={"linear_solver": name}) for name in DIRECT_NAMES}

SCENES: dict[str, Callable[[], Scene]] = {
    **EACH_SOLVER,
    **EACH_ENERGY,
    **EACH_LINEAR_SOLVER,
    "energies_mixed": held(materials=[MATERIALS[0], {**MATERIALS[1], "energy": "corotated"}]),
    "plain": held(solver={"quadratic_finish": False, "stop_rule": "decrement"}),
    "stopped_by_acceleration": held(solver={"stop_rule": "acceleration", "max_iterations": 20}),
    "calmer_linear": held(solver={"solver": "linearly_implicit", "damping_factor": 2.0}),
    "pcg": held(solver={"linear_solver": "pcg"}),
    "pcg_newton": held(solver={"linear_solver": "pcg", "solver": "newton"}),
    "pcg_linear": held(solver={"linear_solver": "pcg", "solver": "linearly_implicit"}, springs=[_hook()]),
    "few_points": held(solver=_subspace(cubature_points=40)),
    "ground": dragged_on_ground(),
    "ground_bdf2": dragged_on_ground(integrator="bdf2", substeps=2),
    "ground_newton": dragged_on_ground(solver="newton"),
    "ground_linear": dragged_on_ground(solver="linearly_implicit"),
    "ground_subspace": dragged_on_ground(solver="subspace_mixed_fem"),
    "collider": held(colliders=[_plate(friction=0.3, thickness=0.004)]),
    "collider_between_frames": held(colliders=[_plate(friction=1.0)], solver={"substeps": 3}),
    "collider_subspace": held(colliders=[_plate()], ground={"height": -0.02}, solver=_subspace()),
    "one_of_three": _one_of_three,
    "goal": held(goal=_hook() | {"stiffness": np.linspace(2.0, 0.0, FRAMES)}),
    "springs": held(springs=[_hook()]),
    "springs_free": free(springs=[_hook()], solver={"substeps": 2}),
    "springs_subspace": free(springs=[_hook()], solver={"solver": "subspace_fem"}),
    "fields": _in_fields(),
    "fields_free": _in_fields(pins=None, solver={"solver": "linearly_implicit"}),
    "fields_subspace": _in_fields(solver=_subspace(substeps=2)),
    "accelerations": held(accelerations=TIME * X * 20.0),
    "accelerations_subspace": held(accelerations=TIME * X * 20.0, solver=_subspace()),
    "released": held(pin_held=_let_go()),
    "released_newton": held(pin_held=_let_go(), solver={"solver": "newton", "substeps": 2}),
    "released_subspace": held(pin_held=_let_go(), solver=_subspace()),
    "pins_between_frames": held(pins=(HELD, _shaken(4)), solver={"substeps": 4}),
    "pins_at_an_edge": held(pins=(HELD[:3], _shaken()[:, :3])),
    "pins_still": held(pins=(HELD, X[HELD])),
    "clean": held(resolution={"method": "clean"}, pin_held=_let_go()),
    "clean_newton": held(resolution={"method": "clean"}, solver={"solver": "newton"}, pin_held=_let_go()),
    "clean_subspace": held(resolution={"method": "clean"}, solver=_subspace()),
    "keyed_stiffness": held(moduli=_softening(), solver={"substeps": 2}),
    "keyed_stiffness_pcg": held(moduli=_softening(), solver={"linear_solver": "pcg"}),
    "keyed_stiffness_subspace": held(moduli=_softening(), solver=_subspace(), pin_held=_let_go()),
    "start": held(initial_shape=X * [1.2, 0.9, 0.9]),
    "start_subspace": held(initial_shape=X * [1.2, 0.9, 0.9], solver=_subspace()),
    "layers": _layered(),
    "layers_subspace": _layered(solver=_subspace()),
    "pre_roll": held(pre_roll=2, solver={"substeps": 3, "integrator": "bdf2"}),
    "damping": held(solver={"mass_damping": 2.0, "stiffness_damping": 0.01}),
    "damping_newton": held(solver={"mass_damping": 2.0, "stiffness_damping": 0.01, "solver": "newton"}),
    "damping_linear": held(solver={"mass_damping": 2.0, "stiffness_damping": 0.01, "solver": "linearly_implicit"}),
    "damping_subspace": held(solver=_subspace(mass_damping=2.0, stiffness_damping=0.01)),
    "islands": _islands(),
    "islands_subspace": _islands(solver=_subspace(modes=9)),
    "resumed": held(resumed=4, solver={"integrator": "bdf2"}),
    "live": _by_hand(solver={"solver": "mixed_fem"}),
    "live_subspace": _by_hand(solver=_subspace()),
    "live_subspace_fem": _by_hand(solver={"solver": "subspace_fem", "substeps": 2}),
}
