"""simkit's full-space Mixed FEM on a body from a file; runs in the peers' environment, apart from the package.

Usage: ``python simkit_mixed_fem.py IN.npz OUT.npz``. Pins are left out of the unknowns, mass and gravity are given, and
the energy is the one of simkit's mixed ones that equals Stable Neo-Hookean without logarithm: Macklin and Mueller's.
What is timed is simkit's solver with its own functions for stretch, energy and derivatives.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
from simkit.deformation_jacobian import deformation_jacobian
from simkit.energies import elastic_energy_S, elastic_gradient_S, elastic_hessian_S
from simkit.solvers.sqpmfem import sqp_mfem
from simkit.stretch import stretch
from simkit.stretch_gradient import stretch_gradient_dz
from simkit.symmetric_stretch_map import symmetric_stretch_map

MATERIAL = "macklin-mueller-neo-hookean"


class FullSpace:
    """The blocks that simkit's solver asks for, of unknowns ``u`` (free coordinates), ``s`` and multipliers."""

    def __init__(self, body: dict[str, np.ndarray]) -> None:
        X, tets = body["rest_positions"], body["tets"].astype(int)
        n = len(X)
        free = np.setdiff1d(np.arange(n), body["pinned"])
        self.free = (3 * free[:, None] + np.arange(3)).ravel()
        self.h = float(body["time_step"])
        self.mu, self.lam, self.volumes = (body[key].reshape(-1, 1) for key in ("mu", "lam", "volumes"))
        mass = sp.csr_matrix((body["mass_data"], body["mass_indices"], body["mass_indptr"]), shape=(n, n))
        self.mass = sp.kron(mass, sp.identity(3)).tocsr()
        self.forces = body["forces"].reshape(-1, 1)
        self.J = deformation_jacobian(X, tets)
        self.J_free = self.J[:, self.free]
        self.M_free = self.mass[self.free][:, self.free].tocsc()
        _, self.Ci = symmetric_stretch_map(len(tets), 3)
        self.w = np.kron(self.volumes, np.array([[1.0, 1, 1, 2, 2, 2]]).T)
        self.W = sp.diags(self.w.ravel())

    def begin(self, x: np.ndarray, v: np.ndarray) -> None:
        """The step's predicted positions; pinned ones stay."""
        held = x.copy().reshape(-1, 1)
        held[self.free] = 0.0
        self.JF_held = self.J @ held
        self.predicted = (x + self.h * v).reshape(-1, 1)
        self.held = held

    def split(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The three kinds of unknowns."""
        n, m = len(self.free), len(self.w)
        return p[:n], p[n : n + m], p[n + m :]

    def F(self, u: np.ndarray) -> np.ndarray:
        """Deformation gradients, (m,3,3)."""
        return (self.J_free @ u + self.JF_held).reshape(-1, 3, 3)

    def whole(self, u: np.ndarray) -> np.ndarray:
        """All coordinates as a column."""
        x = self.held.copy()
        x[self.free] = u
        return x

    def energy(self, p: np.ndarray) -> float:
        """The Lagrangian over h², J."""
        u, s, multiplier = self.split(p)
        d = self.whole(u) - self.predicted
        inertia = 0.5 * float((d.T @ (self.mass @ d)).item()) / self.h**2
        elastic = elastic_energy_S(s.reshape(-1, 6), self.mu, self.lam, self.volumes, MATERIAL)
        constraint = self.w * (self.Ci @ stretch(self.F(u)) - s)
        work = float((self.forces.T @ self.whole(u)).item())
        return inertia + elastic - work + float((multiplier.T @ constraint).item())

    def gradients(self, p: np.ndarray) -> list[np.ndarray]:
        """By positions, by stretches, and the constraint."""
        u, s, _ = self.split(p)
        inertia = (self.mass @ (self.whole(u) - self.predicted)) / self.h**2 - self.forces
        elastic = elastic_gradient_S(s.reshape(-1, 6), self.mu, self.lam, self.volumes, MATERIAL)
        return [inertia[self.free], elastic.reshape(-1, 1), self.w * (self.Ci @ stretch(self.F(u)) - s)]

    def hessians(self, p: np.ndarray) -> list[sp.spmatrix]:
        """``H_u, H_s, G_u, G_s`` and the inverse of the last."""
        u, s, _ = self.split(p)
        G_u = stretch_gradient_dz(u, self.J_free, dim=3, Ci=self.Ci, GJq=self.JF_held) @ self.W
        H_s = sp.block_diag(list(elastic_hessian_S(s.reshape(-1, 6), self.mu, self.lam, self.volumes, MATERIAL)))
        return [self.M_free / self.h**2, H_s.tocsc(), G_u.tocsc(), -self.W, -sp.diags(1.0 / self.w.ravel())]


def main(source: str, target: str) -> None:
    """Step a body and write positions and seconds of every step."""
    with np.load(source, allow_pickle=False) as archive:
        body = {key: archive[key] for key in archive.files}
    problem = FullSpace(body)
    x, v = body["positions"].copy(), body["velocities"].copy()
    s = body["stretch"].reshape(-1, 1)
    positions, seconds = [], []
    for _ in range(int(body["steps"])):
        problem.begin(x, v)
        start = time.perf_counter()
        p = np.vstack([x.reshape(-1, 1)[problem.free], s, np.zeros_like(s)])
        p = sqp_mfem(
            p, problem.energy, problem.hessians, problem.gradients, tolerance=0.0, max_iter=int(body["iterations"])
        )
        u, s, _ = problem.split(p)
        seconds.append(time.perf_counter() - start)
        new = problem.whole(u).reshape(-1, 3)
        x, v = new, (new - x) / problem.h
        positions.append(x)
    np.savez(target, positions=np.array(positions), seconds=np.array(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
