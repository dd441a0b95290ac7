"""Warnings about a choice of dynamic nodes that captures too little of a body's motion.

Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. The rest of the body follows
quasistatically.
"""

from __future__ import annotations

import numpy as np

from ...geometry.mesh.embedding import Embedding
from ...geometry.mesh.tet_mesh import TetMesh
from ...geometry.mesh.topology import components
from ...mechanics.constraints.propose_nodes import stiff_parts
from ...mechanics.materials.surface_stiffness import surface_stiffness
from ...methods.model.nodes import Nodes
from ...numerics.linear_solvers.registry import Choice
from ..job.job import Job

ON_A_LINE = 0.01
"""Largest distance of nodes from a common line, relative to the body's size, at which they count as collinear."""
FEW = 4
"""Largest number of dynamic nodes (vertices that ConJac integrates in time) at which every linear solver is fast."""
PROPOSE = "Choose dynamic nodes in the soft parts (Propose Nodes)."


def node_warnings(job: Job, mesh: TetMesh, embedding: Embedding) -> list[str]:
    """Return warnings, each with a remedy, about parts of the body that lack dynamic nodes and will hardly vibrate.

    The ConJac solvers integrate only the motion of the dynamic nodes in time. All other vertices follow
    quasistatically. A connected component of the mesh needs several dynamic nodes that are not collinear. The result is
    empty for other solvers.
    """
    nodes = job.body.dynamic_nodes
    if not job.body.solver.kind.takes_nodes:
        return []
    if not len(nodes):
        return [f"No dynamic nodes: the body will not jiggle. {PROPOSE}"]
    label = components(mesh.tets, len(mesh.rest_positions))
    of_nodes = label[embedding.tet_indices[nodes]]
    said, count = [], int(label.max()) + 1
    if without := count - len(np.unique(of_nodes)):
        said.append(
            f"{without} of {count} separate parts {'has' if without == 1 else 'have'} no dynamic node and "
            "will not jiggle: pick one in each part that should."
        )
    pinned = job.body.pinned_vertices[job.body.pin_held[0]]
    free = np.setdiff1d(of_nodes, label[embedding.tet_indices[pinned]])
    positions = job.body.surface.positions[nodes]
    few = sum(_is_a_line(positions[of_nodes == part], job.body.surface.size) for part in free)
    if few:
        said.append(
            f"The dynamic nodes of {few} unpinned {'part' if few == 1 else 'parts'} are fewer than three or collinear. "
            "Such a part still flies and rotates, but hardly vibrates in bending: pick more nodes, off that line."
        )
    if _are_in_one_stiff_part(job):
        said.append(f"All dynamic nodes are in one stiff part, which moves rigidly: no soft part vibrates. {PROPOSE}")
    return said


def slow_nodes(nodes: Nodes | None, linear_solver: Choice) -> list[str]:
    """Return a list with a warning if a body has many dynamic nodes and a slow linear solver, or [].

    Dynamic nodes are the vertices whose motion the ConJac solvers integrate in time. Each step solves several linear
    systems per node. A linear solver is slow if it solves these systems one after the other.
    """
    if nodes is None or len(nodes.centres) <= FEW or linear_solver.solves_blocks:
        return []
    return [
        f"Conjugate Gradients solve six linear systems per step for each of the {len(nodes.centres)} nodes, which is "
        "slow: pick fewer nodes, or lower Cells Across and choose a direct Linear Solver."
    ]


def _is_a_line(positions: np.ndarray, size: float) -> bool:
    """Return True if ``positions`` (k,3) are fewer than three points or nearly collinear, relative to ``size``, m."""
    across = np.linalg.svd(positions - positions.mean(axis=0), compute_uv=False)
    return len(positions) < 3 or bool(across[1] <= ON_A_LINE * size)


def _are_in_one_stiff_part(job: Job) -> bool:
    body = job.body
    stiffness = surface_stiffness(body.surface, body.material_weights, body.materials, body.layers, body.stiffness_maps)
    softness = np.zeros(len(stiffness))
    used = np.unique(body.surface.triangles)
    softness[used] = 1.0 / stiffness[used]
    part = stiff_parts(body.surface.triangles, softness)[body.dynamic_nodes]
    return bool(part[0] >= 0 and (part == part[0]).all())
