"""The vibrations of a bar, and the spectrum of its tip after it is let go: the same slowest frequency."""

import numpy as np
import scipy.sparse.linalg
import sinew as sw

X = np.array([[x, y, z] for x in (0.0, 0.4) for y in (0.0, 0.1) for z in (0.0, 0.05)])
faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
body = sw.Body(
    surface=sw.Surface.of_faces(X, faces),
    materials=sw.Material(youngs_modulus=4e5, poissons_ratio=0.3),
    pinned_vertices=X[:, 0] == 0.0,
    resolution=sw.Resolution(cells_across=8),
    solver=sw.Solver(integrator="bdf2", substeps=2, gravity=(0.0, 0.0, -0.5)),
)

solid = sw.Solid.of(body)
frequencies, shapes = solid.modes(4)
print("modes:", ", ".join(f"{f:.2f} Hz" for f in frequencies))
print("the tip moves along", "xyz"[np.abs(solid.on_surface(shapes[0])[4:]).mean(axis=0).argmax()], "in the first")

# The same by SciPy, from the matrices themselves.
K, M = solid.K() + solid.pin_springs(), solid.M()
values = scipy.sparse.linalg.eigsh(K, 4, M, sigma=0.0, return_eigenvectors=False)
print("scipy:", ", ".join(f"{f:.2f} Hz" for f in np.sort(np.sqrt(values)) / (2.0 * np.pi)))

rate, count = 24.0, 144
tip = [frame.positions[4:, 2].mean() for frame in sw.simulate(sw.Job(bodies=body, frame_end=count, frame_rate=rate))]
window = np.hanning(count)
spectrum = np.abs(np.fft.rfft((tip - np.mean(tip)) * window, 16 * count))
peak = np.fft.rfftfreq(16 * count, 1.0 / rate)[spectrum.argmax()]
print(f"peak of the spectrum: {peak:.2f} Hz")
