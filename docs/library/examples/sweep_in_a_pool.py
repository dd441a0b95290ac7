"""Sag of a bar by its stiffness, each in a process of its own."""

from multiprocessing import get_context

import numpy as np
import sinew as sw

MODULI = [5e4, 1e5, 2e5, 4e5]


def sag(youngs_modulus: float) -> float:
    """Return the sag of a bar's tip, m, after 3 s with strong damping."""
    X = np.array([[x, y, z] for x in (0.0, 0.4) for y in (0.0, 0.1) for z in (0.0, 0.1)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    body = sw.Body(
        surface=sw.Surface.of_faces(X, faces),
        materials=sw.Material(youngs_modulus=youngs_modulus),
        pinned_vertices=X[:, 0] == 0.0,
        resolution=sw.Resolution(cells_across=8),
        solver=sw.Solver(mass_damping=8.0, gravity=(0.0, 0.0, -1.0)),
    )
    (*_, last) = sw.simulate(sw.Job(bodies=body, frame_end=19, frame_rate=6.0))
    return float(X[4:, 2].mean() - last.positions[4:, 2].mean())


if __name__ == "__main__":  # processes that are spawned read this file anew
    with get_context("spawn").Pool(2) as pool:
        sags = pool.map(sag, MODULI)
    for modulus, found in zip(MODULI, sags):
        print(f"{modulus:8.0f} Pa  {found:.5f} m  product {modulus * found:.0f}")
