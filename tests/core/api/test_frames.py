"""Simulations by the front door: progress, caches, several bodies, own tetrahedra, files and pictures."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import islice

import meshio
import numpy as np
import pytest
import sinew as sw
from sinew.benchmarks.bodies import block
from sinew.core import api

from ..jobs import box_surface

FRAMES = 5


def lattice(name="", solver="mixed_fem", shift=0.0, **fields):
    surface = box_surface()
    surface = replace(surface, positions=surface.positions + [0.0, shift, 0.0])
    return sw.Body(
        name=name,
        surface=surface,
        materials=[sw.Material("flesh", 4e4), sw.Material("bone", 1e7)],
        material_weights=np.column_stack([np.zeros(len(surface.positions)), surface.positions[:, 0] > 0.3]),
        pinned_vertices=surface.positions[:, 0] == 0.0,
        resolution=sw.Resolution(cells_across=8),
        solver=sw.Solver(solver=solver, max_iterations=4),
        **fields,
    )


def job(*bodies, frames=FRAMES):
    return sw.Job(bodies=bodies or lattice(), frame_end=frames)


def test_the_package_offers_what_the_front_door_has():
    assert sorted(sw.__all__) == sorted(api.__all__)
    assert all(getattr(sw, name) is getattr(api, name) for name in sw.__all__)
    assert set(sw.__all__) <= set(dir(sw))
    with pytest.raises(AttributeError, match="no “Jelly”.*Body"):
        sw.Jelly  # noqa: B018


def test_frames_tell_progress_and_carry_the_surface():
    said = []
    frames = list(sw.simulate(job(), tell=said.append))
    assert [frame.number for frame in frames] == [1, 2, 3, 4, 5]
    assert [frame.progress for frame in frames] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert frames[-1].time == 4 / 24 and any("tetrahedra" in words for words in said)
    assert frames[0].iterations == 0 and all(frame.iterations > 0 for frame in frames[1:])
    for frame in frames:
        away = box_surface().positions[:, 0] > 0.1  # near pins what is shown is put at their places
        carried = frame.solid.on_surface(frame.vertices)
        np.testing.assert_allclose(carried[away], frame.positions[away], atol=1e-12)
    assert frames[-1].positions[:, 2].min() < -0.01
    shown = list(sw.simulate(replace(job(), pre_roll=3)))
    assert [frame.number for frame in shown] == [4, 5], "those of a pre-roll are not shown"
    np.testing.assert_array_equal(shown[-1].positions, frames[-1].positions)


@pytest.mark.parametrize("solver", ["mixed_fem", "subspace_mixed_fem"])
def test_what_was_left_goes_on_with_the_same_bits(tmp_path, solver):
    whole = list(sw.simulate(job(lattice(solver=solver))))
    for _ in islice(sw.simulate(job(lattice(solver=solver)), tmp_path / "cache"), 3):
        pass
    again = list(sw.simulate(job(lattice(solver=solver)), tmp_path / "cache"))
    once_more = list(sw.simulate(job(lattice(solver=solver)), tmp_path / "cache"))
    for frames in (again, once_more):
        assert [frame.number for frame in frames] == [1, 2, 3, 4, 5]
        for a, b in zip(whole, frames):
            np.testing.assert_array_equal(a.positions, b.positions)
            np.testing.assert_array_equal(a.vertices, b.vertices)
            assert (a.iterations, a.converged) == (b.iterations, b.converged)
    with pytest.raises(sw.SinewError, match="solver.*changed since"):
        next(sw.simulate(job(lattice(solver="newton")), tmp_path / "cache"))


def test_nothing_is_left_behind_without_a_cache(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    frames = sw.simulate(job())
    next(frames)
    assert list(tmp_path.iterdir())
    frames.close()
    assert not list(tmp_path.iterdir())


def test_bodies_of_a_job_come_together(tmp_path):
    """Two that meet, and one that does not; each as alone."""
    alone = sw.Contact(bodies=False)
    bodies = lattice("left"), lattice("right", shift=0.3), lattice("far", "newton", 0.6, contact=alone)
    (*_, last) = sw.simulate(job(*bodies), tmp_path)
    assert last.name == "left" and list(last.bodies) == ["left", "right", "far"] and last.bodies["left"] is last
    assert {path.name for path in tmp_path.iterdir()} == {"left", "right", "far"}
    np.testing.assert_allclose(last.bodies["right"].positions - [0, 0.3, 0], last.positions, atol=1e-4)
    (*_, single) = sw.simulate(job(bodies[2]))
    np.testing.assert_array_equal(single.positions, last.bodies["far"].positions)


def test_stress_follows_keyed_stiffness():
    keyed = np.linspace(1.0, 4.0, FRAMES)[:, None] * [4e4, 1e7]
    (*_, last) = sw.simulate(job(lattice(moduli=keyed)))
    first = sw.Solid.of(job(lattice(moduli=keyed)))
    np.testing.assert_allclose(last.solid.first_piola(last.vertices), 4.0 * first.first_piola(last.vertices), rtol=1e-9)


def own(**fields):
    mesh = block((4, 2, 2), (0.4, 0.1, 0.1))
    x = mesh.rest_positions
    stiff = (x[mesh.tets].mean(axis=1)[:, 0] > 0.2).astype(int)
    given = dict(materials=[sw.Material("flesh", 4e4), sw.Material("bone", 1e7)], tet_materials=stiff)
    return sw.Body.of_tets(x, mesh.tets, **given | dict(pinned_vertices=x[:, 0] == 0.0) | fields), stiff


def test_own_tets_are_what_is_simulated(tmp_path):
    body, stiff = own()
    pinned = body.pinned_vertices
    moved = body.surface.positions[pinned] + 0.002 * np.arange(FRAMES)[:, None, None] * [0.0, 1.0, 0.0]
    body = replace(body, pin_positions=moved)
    (*_, last) = sw.simulate(job(body), tmp_path)
    np.testing.assert_array_equal(last.solid.tets, body.tets)
    np.testing.assert_array_equal(last.vertices, last.positions)
    np.testing.assert_allclose(last.vertices[pinned], moved[-1], atol=1e-12)
    np.testing.assert_allclose(last.solid.model.youngs_modulus, np.where(stiff, 1e7, 4e4))
    assert (last.solid.volumes > 0.0).all() and last.solid.volumes.sum() == pytest.approx(0.4 * 0.1 * 0.1)
    again = list(sw.simulate(job(body), tmp_path))
    np.testing.assert_array_equal(again[-1].vertices, last.vertices)


@pytest.mark.parametrize("solver", ["newton", "linearly_implicit", "subspace_fem"])
def test_own_tets_go_with_every_kind_of_solver_and_meet_the_ground(solver):
    body, _stiff = own(pinned_vertices=(), colliders=[sw.Ground(height=-0.002)], solver=sw.Solver(solver=solver))
    (*_, last) = sw.simulate(job(body, frames=4))
    assert -0.001 < last.positions[:, 2].min() < 0.0  # a millimetre is kept


def test_too_many_tets_are_told_as_such(monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.checks.memory.available_memory", lambda: 1e6)
    body, _stiff = own()
    with pytest.raises(sw.SinewError, match="96 tetrahedra do not fit into the free memory. Give fewer"):
        next(sw.simulate(job(body)))


def bad(vertices=None, tets=None):
    mesh = block((1, 1, 1), (1.0, 1.0, 1.0))
    x, t = mesh.rest_positions.copy(), mesh.tets.copy()
    return (vertices or (lambda x: x))(x), (tets or (lambda t: t))(t)


def swapped(t):
    t[3] = t[3, [1, 0, 2, 3]]
    return t


def beyond(t):
    t[2, 1] = 99
    return t


def nowhere(x):
    x[4, 1] = np.nan
    return x


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (bad(tets=swapped), r"Tet 3 has no positive volume \(-0.167 m³\).*Swap two corners"),
        (bad(tets=beyond), "names a vertex that does not exist.*from 0"),
        (bad(vertices=nowhere), "Vertex 4 has a position that is not a number"),
        (bad(vertices=lambda x: np.vstack([x, [[2.0, 2, 2]]])), "Vertex 8 belongs to no tet"),
        (bad(vertices=lambda x: x[:, :2]), r"vertices are float64 of shape \(8, 2\)"),
        (bad(tets=lambda t: t.astype(float)), "tets are float64.*four whole numbers"),
        (bad(tets=lambda t: t[:0]), "no tetrahedra"),
    ],
)
def test_what_is_wrong_with_tets_is_named(arrays, words):
    with pytest.raises(sw.SinewError, match=words):
        sw.Body.of_tets(*arrays, materials=sw.Material())


def test_other_wrong_input_is_named():
    body, _stiff = own()
    for change, words in (
        (dict(tet_materials=[0, 1]), "index of a material"),
        (dict(pinned_vertices=[999]), "not valid indices"),
        (dict(pinned_vertices=np.zeros(3, dtype=bool)), "bool of shape .*a mask of all"),
        (dict(pinned_vertices=[0.0, 1.0]), "float64 of shape"),
        (dict(materials=[sw.Material(energy="jelly")] * 2), "Unknown energy “jelly”.*stable_neo_hookean"),
        (dict(solver=sw.Solver(match_resolution=True)), "finer lattice"),
        (dict(solver=sw.Solver(solver="magic")), "Unknown solver “magic”.*mixed_fem"),
    ):
        with pytest.raises(sw.SinewError, match=words):
            sw.simulate(job(replace(body, **change)))


def test_a_surface_is_asked_for():
    with pytest.raises(sw.SinewError, match="surface is a tuple.*read_surface"):
        sw.Body(surface=(np.zeros((3, 3)), [[0, 1, 2]]), materials=sw.Material())


def test_a_collider_that_stands_still_needs_no_frames():
    table = sw.Collider("table", [[0, 1, 2]], np.eye(3))
    assert table.positions.shape == (1, 3, 3)


def test_tets_are_read_from_a_file_and_turned(tmp_path):
    mesh = block((2, 1, 1), (0.2, 0.1, 0.1))
    tets = mesh.tets.copy()
    tets[::2] = tets[::2][:, [1, 0, 2, 3]]
    loose = np.vstack([mesh.rest_positions, [[9.0, 9, 9]]])
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(loose, [("tetra", tets), ("triangle", tets[:, :3])]))
    body = sw.Body.of_tets(*sw.read_tets(tmp_path / "a.vtu"), materials=sw.Material())
    assert sw.Solid.of(body).volumes.sum() == pytest.approx(0.002) and len(body.surface.positions) == len(loose) - 1
    meshio.write(tmp_path / "b.vtu", meshio.Mesh(loose, [("triangle", tets[:, :3])]))
    for name, words in (("b.vtu", "no tetrahedra"), ("c.vtu", "There is no file")):
        with pytest.raises(sw.SinewError, match=words):
            sw.read_tets(tmp_path / name)


def test_what_paraview_reads(tmp_path):
    bodies = lattice("left"), lattice("right", shift=0.3)
    frames = list(sw.simulate(job(*bodies, frames=3)))
    files = sw.write(tmp_path / "bars.pvd", iter(frames))
    sets = ET.parse(tmp_path / "bars.pvd").getroot().find("Collection").findall("DataSet")
    assert [float(each.get("timestep")) for each in sets] == [0.0, 0.0, 1 / 24, 1 / 24, 2 / 24, 2 / 24]
    assert [tmp_path / each.get("file") for each in sets] == files[1:] and all(file.is_file() for file in files)
    right = frames[-1].bodies["right"]
    read = meshio.read(tmp_path / "bars_0003.right.vtu")
    np.testing.assert_array_equal(read.points, right.vertices)
    np.testing.assert_array_equal(read.cells_dict["tetra"], right.solid.tets)
    np.testing.assert_array_equal(read.point_data["displacement"], right.vertices - right.solid.rest)
    P, model = right.solid.first_piola(right.vertices), right.solid.model
    F = model.elastic.gradients(right.vertices)[model.elements.of_tet]
    sigma = np.einsum("mij,mkj->mik", P, F) / np.linalg.det(F)[:, None, None]
    data = {name: values[0] for name, values in read.cell_data.items()}
    np.testing.assert_array_equal(data["first_piola"], P.reshape(-1, 9))
    np.testing.assert_allclose(data["cauchy"], sigma.reshape(-1, 9), rtol=1e-9, atol=1e-6)
    s = np.linalg.eigvalsh(0.5 * (sigma + sigma.transpose(0, 2, 1)))
    mises = np.sqrt(0.5 * ((s[:, 0] - s[:, 1]) ** 2 + (s[:, 1] - s[:, 2]) ** 2 + (s[:, 2] - s[:, 0]) ** 2))
    np.testing.assert_allclose(data["von_mises"], mises, rtol=1e-6)
    assert data["energy_density"] @ data["volume"] > 0.0 and data["youngs_modulus"].max() == pytest.approx(1e7)


def test_one_cache_serves_two_loops_at_once(tmp_path):
    first, second = (sw.simulate(job(frames=3), cache=tmp_path) for _ in range(2))
    before = [next(first), next(second)]
    first.close()
    for frames in (list(second), list(sw.simulate(job(frames=3), cache=tmp_path))[1:]):
        assert [frame.number for frame in frames] == [2, 3]
    np.testing.assert_array_equal(*(frame.positions for frame in before))


def test_other_files(tmp_path):
    frames = list(sw.simulate(job(frames=3)))
    (path,) = sw.write(tmp_path / "bar.pc2", frames)
    count, first, _rate, samples = struct.unpack("<iffi", path.read_bytes()[16:32])
    assert (count, first, samples) == (len(frames[0].positions), 1.0, 3)
    np.testing.assert_array_equal(
        np.frombuffer(path.read_bytes()[32:], "<f4").reshape(3, -1, 3), np.float32([f.positions for f in frames])
    )
    (path,) = sw.write(tmp_path / "bar.pc2", frames[::2])
    assert struct.unpack("<iffi", path.read_bytes()[16:32])[1:] == (1.0, 2.0, 2)
    assert sw.write(tmp_path / "bar.vtu", frames[-1]) == [tmp_path / "bar.vtu"]
    two, uneven = iter(frames[:2]), [frames[0], *frames]
    refused = {"bar.vtu": (two, "one frame"), "bar.pc2": (uneven, "equally spaced"), "bar.pvd": (two, "no frame")}
    for name, (given, words) in refused.items():
        with pytest.raises(sw.SinewError, match=words):
            sw.write(tmp_path / name, given)
    with pytest.raises(sw.SinewError, match="bar.abc.*vtu, .pvd or .pc2"):
        sw.write(tmp_path / "bar.abc", frames)


def test_a_picture_in_one_call(tmp_path):
    from PIL import Image

    (*_, last) = sw.simulate(job(frames=3))
    for colour in ("von_mises", "energy_density", "displacement"):
        last.picture(tmp_path / f"{colour}.png", colour)
        pixels = np.asarray(Image.open(tmp_path / f"{colour}.png").convert("RGB")).reshape(-1, 3)
        coloured = (np.ptp(pixels.astype(int), axis=1) > 60).mean()
        assert coloured > 0.03 and len(np.unique(pixels[::7], axis=0)) > 50
    with pytest.raises(sw.SinewError, match="“heat”.*von_mises"):
        last.picture(tmp_path / "a.png", "heat")
    for name in ("a.abc", "nowhere/a.png"):
        with pytest.raises(sw.SinewError, match="cannot be drawn.*existing folder"):
            last.picture(tmp_path / name)


def test_a_picture_without_matplotlib_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    (*_, last) = sw.simulate(job(frames=2))
    with pytest.raises(sw.SinewError, match="pip install matplotlib"):
        last.picture(tmp_path / "a.png")
