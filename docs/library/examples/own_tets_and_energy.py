"""A block of one's own tetrahedra and one's own energy, stretched by its ends, and its stress for ParaView."""

from itertools import permutations

import numpy as np
import sinew as sw

# Six tetrahedra in each cell of a grid; sw.read_tets("block.msh") reads them from a file.
cells, side = np.array([16, 4, 4]), 0.025
index = np.arange(np.prod(cells + 1)).reshape(cells + 1)
corner = np.indices(cells).reshape(3, -1).T
paths = [np.cumsum([[0, 0, 0], *np.eye(3, dtype=int)[list(p)]], axis=0) for p in permutations(range(3))]
tets = np.concatenate([np.column_stack([index[tuple((corner + step).T)] for step in path]) for path in paths])
X = side * np.indices(cells + 1).reshape(3, -1).T
corners = X[tets]
inside_out = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0
tets[inside_out] = tets[inside_out][:, [0, 1, 3, 2]]


def mooney_rivlin(a, b, c, mu, lam):
    """Half of the shear modulus for each invariant at equal volume, and a quadratic price of volume."""
    J = a * b * c
    first = J ** (-2 / 3) * (a**2 + b**2 + c**2)
    second = J ** (-4 / 3) * ((a * b) ** 2 + (b * c) ** 2 + (c * a) ** 2)
    return mu / 4 * (first - 3) + mu / 4 * (second - 3) + (lam / 2 + mu / 3) * (J - 1) ** 2


sw.register_energy("mooney_rivlin", mooney_rivlin)

left, right = X[:, 0] == 0.0, X[:, 0] == X[:, 0].max()
frames = 9
pull = np.linspace(0.0, 0.5, frames)[:, None, None] * [X[:, 0].max(), 0.0, 0.0]  # to one and a half times its length
body = sw.Body.of_tets(
    X,
    tets,
    materials=sw.Material(youngs_modulus=1e5, poissons_ratio=0.4, energy="mooney_rivlin"),
    pinned_vertices=left | right,
    pin_positions=X[left | right] + pull * right[left | right][:, None],
    solver=sw.Solver("newton", gravity=(0.0, 0.0, 0.0)),
)
kept = list(sw.simulate(sw.Job(bodies=body, frame_end=frames)))
sw.write("block.pvd", kept)
sw.write("block.pc2", kept)

last = kept[-1]
force = last.solid.forces(last.vertices)[left].sum(axis=0)
middle = np.abs(X[tets].mean(axis=1)[:, 0] - 0.2) < side
print(f"the left end pulls back with {force[0]:.2f} N")
print(f"stress in the middle: {last.solid.cauchy(last.vertices)[middle, 0, 0].mean():.0f} Pa")
