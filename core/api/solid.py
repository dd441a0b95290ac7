"""Discretised body: matrices, energies, stresses and vibration modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..foundation.errors import MeshError, SettingsError
from ..foundation.events import ignore
from ..foundation.schema.declared_types import array_of, checked
from ..geometry.mesh.embedding import Embedding
from ..geometry.mesh.surface_mesh import SurfaceMesh
from ..jobs.job.body import Body
from ..jobs.job.job import Job
from ..mechanics.energies.kinematics import Deformation
from ..methods.eigenfit.vibrations import stiffness_lower_triangle, vibrations
from ..methods.model.model import Model
from ..simulation.preparation.body_model import body_model, fields_of, pinned_surface
from ..simulation.preparation.prepare import tetrahedra


@dataclass(frozen=True)
class Solid:
    """Tetrahedra and materials of a body with n vertices and m tets.

    Methods take ``vertices`` (n,3), m, by default the rest positions. The unknowns of matrices are x, y and z of the
    first vertex, then of the second, and so on.

    Attributes
    ----------
    model, surface, embedding
        Internal.
    """

    model: Model
    surface: SurfaceMesh
    embedding: Embedding

    @classmethod
    @checked(SettingsError)
    def of(cls, body: Body | Job) -> Solid:
        """Return the solid of a body, or of a job with one body.

        Pass a job if the pins of the body are animated.
        """
        job = body if isinstance(body, Job) else Job(bodies=body, frame_end=1)
        job.check()
        mesh, embedding = tetrahedra(job, None, ignore)
        pinned = pinned_surface(job, mesh, embedding)
        model = body_model(job, mesh, fields_of(job, mesh, embedding), pinned)
        return cls(model, job.body.surface, embedding)

    @property
    def rest(self) -> np.ndarray:
        """Rest positions of the vertices, (n,3), m."""
        return self.model.mesh.rest_positions

    @property
    def tets(self) -> np.ndarray:
        """Vertex indices of the corners of the tets, (m,4)."""
        return self.model.mesh.tets

    @property
    def volumes(self) -> np.ndarray:
        """Volume of material in each tet, (m,), m³.

        A tet that extends beyond the body's surface is partly filled.
        """
        return self.model.mesh.elastic_volumes

    @property
    def pinned(self) -> np.ndarray:
        """Indices of the vertices prescribed by pins, (p,), ascending.

        Pins inside tets are springs (:meth:`pin_springs`).
        """
        return self.model.pinned

    def K(self, vertices: np.ndarray | None = None) -> sp.csr_matrix:
        """Return the stiffness matrix of all vertices, (3n,3n), N/m.

        The matrix is the Hessian of the elastic energy, without projection to a positive semi-definite matrix.
        """
        x = self._positions(vertices)
        tangent = self.model.elastic.tangent(self.model.elastic.deformation(x), projected=False)
        lower, _pattern = stiffness_lower_triangle(self.model, tangent, (), x)
        return (lower + sp.tril(lower, -1).T).tocsr()

    def M(self) -> sp.csr_matrix:
        """Return the consistent mass matrix, (3n,3n), kg."""
        return sp.kron(self.model.mass, sp.eye(3), format="csr")

    def pin_springs(self) -> sp.csr_matrix:
        """Return the stiffness matrix of the pin springs, (3n,3n), N/m.

        Pins that are not tet vertices act as springs.
        """
        n = len(self.rest)
        anchors = self.model.anchors
        return sp.kron(sp.csr_matrix((n, n)) if anchors is None else anchors, sp.eye(3), format="csr")

    @checked(SettingsError)
    def modes(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the ``count`` lowest vibration modes about the rest shape.

        The result consists of the frequencies f (k,), Hz, in ascending order, and the mode shapes u (k,n,3). A mode
        satisfies ``(K + K_s) u = (2 pi f)² M u`` at the vertices that are not fixed, and ``u . M u = 1``. K (:meth:`K`)
        and K_s (:meth:`pin_springs`) are stiffness matrices; M (:meth:`M`) is the mass matrix.

        Vertices prescribed by pins (:attr:`pinned`) are fixed. The first six modes of a body without pins are rigid
        motions. Raises SettingsError if ``count`` is less than 1.
        """
        if count < 1:
            raise SettingsError(f"{count} modes were requested.", "Request at least one mode.")
        found = vibrations(self.model, count)
        return found.frequencies, found.modes

    def energy_density(self, vertices: np.ndarray | None = None) -> np.ndarray:
        """Return the elastic energy per rest volume of each tet, (m,), J/m³.

        Multiplied by ``volumes``, the result is the energy in J.
        """
        elastic, x = self.model.elastic, self._positions(vertices)
        density = elastic.densities(elastic.deformation(x))
        if elastic.stabilization is not None:
            density += elastic.stabilization.energies(x) / elastic.weights
        return density[self.model.elements.of_tet]

    def forces(self, vertices: np.ndarray | None = None) -> np.ndarray:
        """Return the elastic forces on the vertices, (n,3), N: minus the gradient of the elastic energy."""
        elastic, x = self.model.elastic, self._positions(vertices)
        gradient = elastic.gradient(elastic.deformation(x))
        return -gradient if elastic.stabilization is None else -gradient - elastic.stabilization.gradient(x)

    def first_piola(self, vertices: np.ndarray | None = None) -> np.ndarray:
        """Return the first Piola-Kirchhoff stress ``P = dpsi/dF`` of each tet, (m,3,3), Pa."""
        return self.model.elastic.stress(self._at(vertices))[self.model.elements.of_tet]

    def cauchy(self, vertices: np.ndarray | None = None) -> np.ndarray:
        """Return the Cauchy stress ``P F^T / det F`` of each tet, (m,3,3), Pa."""
        return self.model.elastic.cauchy(self._at(vertices))[self.model.elements.of_tet]

    def von_mises(self, vertices: np.ndarray | None = None) -> np.ndarray:
        """Return the von Mises stress of each tet, (m,), Pa: ``sqrt(3/2)`` times the norm of the Cauchy deviator."""
        return self.model.elastic.von_mises(self._at(vertices))[self.model.elements.of_tet]

    @checked(MeshError)
    def on_surface(self, of_vertices: np.ndarray) -> np.ndarray:
        """Interpolate positions or displacements of the tet vertices to the surface vertices.

        ``of_vertices`` (n,3): values at the tet vertices. The result is (s,3) for s surface vertices. Raises MeshError
        if the shape is wrong.
        """
        self._check_shape(of_vertices)
        return self.embedding.apply(of_vertices, self.tets)

    @checked(MeshError)
    def at_surface(self, of_tets: np.ndarray) -> np.ndarray:
        """Interpolate values of the tets, such as stresses, to the surface vertices.

        Tet vertices get the mean of their tets, weighted by volume. ``of_tets`` (m,): values of the tets. The result is
        (s,) for s surface vertices. Raises MeshError if the shape is wrong.
        """
        if np.shape(of_tets) != (len(self.tets),):
            raise MeshError(
                f"The values of the tets have shape {np.shape(of_tets)}, not {(len(self.tets),)}.",
                "Pass one number per tet, such as von_mises(frame.vertices).",
            )
        return self.embedding.smoothed(of_tets, self.tets, self.volumes)

    def _at(self, vertices: np.ndarray | None) -> Deformation:
        return self.model.elastic.deformation(self._positions(vertices))

    def _positions(self, vertices: np.ndarray | None) -> np.ndarray:
        x = self.rest if vertices is None else array_of(vertices, MeshError, "Solid: vertices", np.float64)
        self._check_shape(x)
        return x

    def _check_shape(self, x: np.ndarray) -> None:
        if x.shape != self.rest.shape:
            raise MeshError(
                f"The vertices have shape {x.shape}, not {self.rest.shape}.",
                "Pass the vertices of the tetrahedra: frame.vertices, not frame.positions.",
            )
