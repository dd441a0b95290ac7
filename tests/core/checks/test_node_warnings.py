"""What is said of nodes where solutions come one after the other."""

from __future__ import annotations

import numpy as np
from sinew.core.checks.node_warnings import node_warnings
from sinew.core.linear_solvers.cholmod import CholmodSolver
from sinew.core.linear_solvers.registry import ITERATIVE, Choice
from sinew.core.model.nodes import single_vertices


def test_many_nodes_with_conjugate_gradients():
    iterative, direct = Choice(ITERATIVE, CholmodSolver, ""), Choice(CholmodSolver.name, CholmodSolver, "")
    few, many = (single_vertices(np.arange(count), 20) for count in (4, 5))
    (said,) = node_warnings(many, iterative)
    assert "5 nodes" in said
    assert "Linear Solver" in said
    assert node_warnings(few, iterative) == node_warnings(many, direct) == node_warnings(None, iterative) == []
