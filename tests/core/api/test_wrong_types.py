"""A sweep of the front door: every field and parameter, given anything, works or is refused by its name."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinew as sw
from sinew.core.foundation.schema.settings import DepthSettings
from sinew.core.jobs.job.pair import PairSettings
from sinew.core.mechanics.energies.registry import ENERGIES
from sinew.core.mechanics.materials.layer import Layer

from ..jobs import box_surface

SURFACE = box_surface(cells=(2, 1, 1))
N = len(SURFACE.positions)
WRONG: dict[str, Any] = {
    "None": None,
    "a text": "word",
    "no text": "",
    "bytes": b"word",
    "a negative": -1,
    "zero": 0,
    "a fraction": 0.5,
    "a large number": 10**30,
    "a number beyond floats": 10**400,
    "a number beyond texts": 10**5000,
    "nan": float("nan"),
    "inf": float("inf"),
    "a NumPy number": np.float32(2.0),
    "complex": 1j,
    "a switch": True,
    "a list": [1, 2],
    "nothing": [],
    "lists of different lengths": [[1, 2], [3]],
    "a deep list": [[[[1.0]]]],
    "a dict": {"a": 1},
    "a set": {1, 2},
    "an object": object(),
    "a class": int,
    "a function": len,
    "a generator": (k for k in range(3)),
    "a path": Path("x"),
    "a point": np.zeros(3),
    "no rows": np.zeros((0, 3)),
    "rows of two": np.zeros((N, 2)),
    "rows of NaN": np.full((N, 3), np.nan),
    "indices beyond": np.full((4, 3), 10**6),
    "indices beyond 32 bits": np.full((4, 3), 2**40),
    "negative indices": np.full(4, -5),
    "texts": np.array(["a", "b"]),
    "objects": np.array([None, {}], dtype=object),
    "switches": np.ones(N, dtype=bool),
    "a list with None": [None],
    "a list of texts": ["a", "b"],
    "a list with an object": [object()],
    "a material": sw.Material(),
    "a surface": SURFACE,
    "a solver": sw.Solver(),
}

RAW = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, OSError, RuntimeError, MemoryError)
"""Errors that come from deep inside."""


def body(**given: Any) -> sw.Job:
    """A job of the body, over two frames, checked as before a simulation."""
    whole = {"surface": SURFACE, "materials": sw.Material(), "resolution": sw.Resolution(cells_across=2)} | given
    made = sw.Job(bodies=sw.Body(**whole), frame_end=2)
    made.check()
    return made


def job(**given: Any) -> None:
    """A job, its body checked."""
    sw.Job(**({"bodies": sw.Body(surface=SURFACE, materials=sw.Material()), "frame_end": 2} | given)).check()


def spring(**given: Any) -> None:
    """A body with a spring of its first vertex."""
    good = {"name": "s", "vertices": [0], "weights": [1.0], "targets": np.zeros((2, 1, 3)), "stiffness": [1.0, 1.0]}
    body(springs=(sw.Spring(**(good | given)),))


def collider(**given: Any) -> None:
    """A body with a collider."""
    body(colliders=(sw.Collider(**({"name": "c", "triangles": [[0, 1, 2]], "positions": np.eye(3)} | given)),))


def muscle(**given: Any) -> None:
    """A body that is a muscle between two vertices."""
    body(muscles=(sw.Muscle(**({"material": 0, "origin": [0], "insertion": [N - 1]} | given)),))


def region(**given: Any) -> None:
    """A body with a kinematic region."""
    body(regions=(sw.KinematicRegion(**({"name": "r", "surface": SURFACE} | given)),))


def seams(**given: Any) -> None:
    """A body of one piece."""
    good = {"pieces": np.zeros(N), "seam_faces": np.zeros(len(SURFACE.triangles), dtype=bool)}
    body(seams=sw.Seams(**({name: good[name].astype(np.int32) for name in good} | given)))


OWNERS: dict[type, Callable[..., Any]] = {
    sw.Body: body,
    sw.Job: job,
    sw.Spring: spring,
    sw.Collider: collider,
    sw.KinematicRegion: region,
    sw.Muscle: muscle,
    sw.MuscleSettings: lambda **given: muscle(settings=sw.MuscleSettings(**given)),
    sw.FibreCurve: lambda **given: muscle(
        curves=(sw.FibreCurve(**({"points": np.eye(3)[:2], "radii": np.zeros(2)} | given)),)
    ),
    sw.Chamber: lambda **given: body(chamber=sw.Chamber(**given)),
    sw.Tie: lambda **given: body(ties=(sw.Tie(**({"other": "Ground"} | given)),)),
    sw.Cutter: lambda **given: sw.Cutter(**({"name": "c", "positions": X[None], "edges": [[0, 1]]} | given)),
    sw.Joint: lambda **given: body(joints=(sw.Joint(**given),)),
    sw.Seams: seams,
    sw.Ground: lambda **given: body(colliders=(sw.Ground(**given),)),
    sw.Material: lambda **given: body(materials=sw.Material(**given)),
    sw.Contact: lambda **given: body(contact=sw.Contact(**given)),
    sw.Resolution: lambda **given: body(resolution=sw.Resolution(**given)),
    sw.Solver: lambda **given: body(solver=sw.Solver(**given)),
    sw.Surface: lambda **given: body(
        surface=sw.Surface(**({"positions": SURFACE.positions, "triangles": SURFACE.triangles} | given))
    ),
    PairSettings: lambda **given: body(pairs=(PairSettings(**({"other": "Ground"} | given)),)),
    Layer: lambda **given: body(layers=(Layer(**({"material": 0} | given)),)),
    DepthSettings: lambda **given: body(layers=(Layer(0, depth=DepthSettings(**given)),)),
}
FIELDS = [(owner, item.name) for owner in OWNERS for item in fields(owner)]


def works_or_is_refused(make: Callable[[], Any]) -> None:
    """Let errors of the library pass that say what to do."""
    try:
        make()
    except sw.SinewError as error:
        assert error.message and error.remedy and len(str(error)) < 1000


@pytest.mark.parametrize(("owner", "name"), FIELDS, ids=[f"{owner.__name__}.{name}" for owner, name in FIELDS])
def test_every_field_works_or_is_refused(owner, name):
    raw = []
    for what, value in WRONG.items():
        try:
            works_or_is_refused(lambda value=value: OWNERS[owner](**{name: value}))
        except RAW as error:
            raw.append(f"{what}: {type(error).__name__}: {error}"[:200])
    assert not raw, "\n".join(raw)


@pytest.mark.parametrize(("owner", "name"), FIELDS, ids=[f"{owner.__name__}.{name}" for owner, name in FIELDS])
def test_an_object_is_refused_by_the_fields_name(owner, name):
    with pytest.raises(sw.SinewError) as caught:
        OWNERS[owner](**{name: object()})
    words = name.replace("_", " ")
    assert words in str(caught.value) or name in ("energy", "surface")


X, T = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]), [[0, 1, 2, 3]]
SOLID = sw.Solid.of(sw.Body.of_tets(X, T, materials=sw.Material()))
FRAME = next(sw.simulate(body()))


PAINTED = (SURFACE.positions[:, 0] > SURFACE.positions[:, 0].mean()).astype(float)
SPLIT = sw.split_surface(SURFACE, painted=PAINTED, edge_length=0.3)


def _psi(a: Any, b: Any, c: Any, mu: Any, lam: Any) -> Any:
    logs = sum(np.log(s) ** 2 for s in (a, b, c))
    return mu * logs + 0.5 * lam * np.log(a * b * c) ** 2


FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "muscle_preset": (sw.muscle_preset, {"name": "Biceps"}),
    "read_scene": (sw.read_scene, {"path": "scene.toml"}),
    "read_surface": (sw.read_surface, {"path": "a.obj"}),
    "read_tets": (sw.read_tets, {"path": "a.msh"}),
    "register_energy": (sw.register_energy, {"name": "own", "psi": _psi}),
    "simulate": (lambda **given: next(sw.simulate(**given)), {"job": body()}),
    "split_surface": (sw.split_surface, {"surface": SURFACE, "painted": PAINTED, "edge_length": 0.3}),
    "SplitSurface.values": (SPLIT.values, {"of_vertices": np.zeros((N, 2))}),
    "sweep": (sw.sweep, {"scene": body(), "rows": [{"name": "a", "substeps": 1}], "folder": "out"}),
    "write": (sw.write, {"path": "a.vtu", "frames": FRAME}),
    "Surface.of_faces": (sw.Surface.of_faces, {"positions": X, "faces": [[0, 1, 2]]}),
    "Body.of_tets": (sw.Body.of_tets, {"vertices": X, "tets": T, "materials": sw.Material()}),
    "Solid.of": (sw.Solid.of, {"body": body()}),
    "Solid.modes": (SOLID.modes, {"count": 3}),
    "Solid.on_surface": (SOLID.on_surface, {"of_vertices": X}),
    "Frame.picture": (FRAME.picture, {"path": "a.png"}),
    "Job.alone": (body().alone, {"k": 0}),
    "Job.save": (body().save, {"path": "job.npz"}),
    "Job.load": (sw.Job.load, {"path": "job.npz"}),
} | {
    f"Solid.{name}": (getattr(SOLID, name), {"vertices": X})
    for name in ("K", "energy_density", "forces", "first_piola", "cauchy", "von_mises")
}
PARAMETERS = [
    (function, name)
    for function, (call, good) in FUNCTIONS.items()
    for name in dict.fromkeys([*good, *(inspect.signature(call).parameters if function != "simulate" else ())])
    if name not in ("fields", "given")
] + [("simulate", "cache"), ("simulate", "tell")]


@pytest.mark.parametrize(("function", "name"), PARAMETERS)
def test_every_parameter_works_or_is_refused(function, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("sinew.core.mechanics.energies.own_energy.ENERGIES", dict(ENERGIES))
    call, good = FUNCTIONS[function]
    raw = []
    for what, value in WRONG.items():
        if name == "tell" and what == "a class":
            continue  # it is called, and raises what it likes
        try:
            works_or_is_refused(lambda value=value: call(**(good | {name: value})))
        except RAW as error:
            raw.append(f"{what}: {type(error).__name__}: {error}"[:200])
    assert not raw, "\n".join(raw)


def test_the_sweep_leaves_nothing_out():
    offered = {name.partition(".")[0] for name in FUNCTIONS} | {owner.__name__ for owner in OWNERS}
    names = {getattr(sw, name).__name__ for name in sw.__all__ if name != "SinewError"}
    assert names <= offered
