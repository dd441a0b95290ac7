"""Dynamic nodes that carry less than they seem to are told of, with what to do."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.foundation.events import Mesh
from sinew.core.foundation.schema.settings import ResolutionSettings
from sinew.core.geometry.mesh.surface_mesh import SurfaceMesh
from sinew.core.jobs.checks.node_warnings import node_warnings, slow_nodes
from sinew.core.methods.model.nodes import single_vertices
from sinew.core.numerics.linear_solvers.cholmod import CholmodSolver
from sinew.core.numerics.linear_solvers.registry import ITERATIVE, Choice
from sinew.core.simulation.preparation.prepare import prepare, tetrahedra

from ..jobs import box_surface, free_box, shaken_bar


def two_boxes(frames=2):
    """A job of free boxes of 0.2 m, 0.3 m apart, and the vertices of each."""
    one = box_surface((0.2, 0.2, 0.2), (2, 2, 2))
    n = len(one.positions)
    both = SurfaceMesh(
        np.concatenate([one.positions, one.positions + [0.5, 0.0, 0.0]]),
        np.concatenate([one.triangles, one.triangles + n]),
    )
    job, cells = free_box(frames, solver={"solver": "conjac"}), ResolutionSettings(cells_across=14)
    return job.with_body(surface=both, material_weights=np.ones((2 * n, 1)), stiffness_maps=None, resolution=cells), n


def said(job):
    return node_warnings(job, *tetrahedra(job, None, lambda _event: None))


def bar(*places):
    """The bar of flesh, whose end beyond 0.25 m is of bone, with the nodes nearest to some places."""
    job = shaken_bar(2, "conjac")
    X = job.body.surface.positions
    return job.with_body(dynamic_nodes=[int(np.linalg.norm(X - place, axis=1).argmin()) for place in places])


FLESH, BONE = (0.2, 0.1, 0.1), [(0.4, 0.0, 0.0), (0.4, 0.1, 0.1)]


def test_nodes_in_bone_alone_are_told_of():
    (words,) = said(bar(*BONE))
    assert "in one stiff part" in words and "Propose Nodes" in words
    assert said(bar(*BONE, FLESH)) == [] == said(bar(FLESH)), "a part that is held may have any number"
    assert said(bar(*BONE).with_body(materials=bar(FLESH).body.materials[:1] * 2)) == [], "all is alike"


def test_no_nodes_are_told_of_where_the_solver_takes_some():
    (words,) = said(shaken_bar(2, "conjac"))
    assert "will not jiggle" in words
    assert said(shaken_bar(2)) == []


def test_a_part_without_nodes_is_told_of():
    job, n = two_boxes()
    corners = [0, 2, n - 1]
    (words,) = said(job.with_body(dynamic_nodes=corners))
    assert words.startswith("1 of 2 separate parts has no dynamic node") and "will not jiggle" in words
    assert said(job.with_body(dynamic_nodes=[*corners, *(n + np.array(corners))])) == []


@pytest.mark.parametrize("places", [[(0, 0, 0)], [(0, 0, 0), (1, 1, 1)], [(0, 0, 0), (1, 0, 0), (2, 0, 0)]])
def test_a_free_part_wants_three_nodes_beside_a_line(places):
    job = free_box(2, solver={"solver": "conjac"})
    X = job.body.surface.positions
    nodes = [int(np.linalg.norm(X - 0.1 * np.array(place), axis=1).argmin()) for place in places]
    (words,) = said(job.with_body(dynamic_nodes=nodes))
    assert "fewer than three or collinear" in words and "pick more nodes, off that line" in words
    beside = int(np.linalg.norm(X - (0.0, 0.2, 0.0), axis=1).argmin())
    enough = job.with_body(dynamic_nodes=[*nodes, beside])
    assert said(enough) == ([] if len(places) > 1 else [words])
    held = enough.with_body(pinned_vertices=[3], pin_positions=X[3:4], pin_held=None)
    assert said(held) == []


def test_they_come_with_the_tetrahedra():
    events = []
    prepare(bar(*BONE), on_event=events.append)
    (mesh,) = (event for event in events if isinstance(event, Mesh))
    assert any("in one stiff part" in words for words in mesh.warnings)


def test_many_nodes_with_conjugate_gradients():
    iterative, direct = Choice(ITERATIVE, CholmodSolver, ""), Choice(CholmodSolver.name, CholmodSolver, "")
    few, many = (single_vertices(np.arange(count), 20) for count in (4, 5))
    (said,) = slow_nodes(many, iterative)
    assert "5 nodes" in said
    assert "Linear Solver" in said
    assert slow_nodes(few, iterative) == slow_nodes(many, direct) == slow_nodes(None, iterative) == []
