"""A bar of flesh with an end of bone, whose other end is swung: two materials and a moving pin."""

import numpy as np
import sinew as sw

X = np.array([[x, y, z] for x in (0.0, 0.3, 0.4) for y in (0.0, 0.1) for z in (0.0, 0.1)])
sides = [[a + k, b + k, b + k + 4, a + k + 4] for k in (0, 4) for a, b in ((1, 0), (0, 2), (2, 3), (3, 1))]
surface = sw.Surface.of_faces(X, [[0, 1, 3, 2], [8, 10, 11, 9], *sides])

flesh = sw.Material("flesh", youngs_modulus=5e4, poissons_ratio=0.45)
bone = sw.Material("bone", youngs_modulus=1e9, poissons_ratio=0.3, density=1900.0)
is_bone, pinned = X[:, 0] >= 0.3, X[:, 0] == 0.0

frames = 24
swing = np.zeros((frames, 1, 3))
swing[:, 0, 1] = 0.03 * np.sin(np.linspace(0.0, 2.0 * np.pi, frames))

body = sw.Body(
    surface=surface,
    materials=[flesh, bone],
    material_weights=np.column_stack([~is_bone, is_bone]),
    pinned_vertices=pinned,
    pin_positions=X[pinned] + swing,  # one position a frame and pin, m
    resolution=sw.Resolution(cells_across=12),
)
positions = np.array([frame.positions for frame in sw.simulate(sw.Job(bodies=body, frame_end=frames))])

edges = np.linalg.norm(positions[:, 9:] - positions[:, 8:9], axis=2)
print(f"the tip swings by {np.ptp(positions[:, 8:, 1].mean(axis=1)):.3f} m")
print(f"bone changes its length by {np.abs(edges / edges[0] - 1.0).max():.1e}, at most")
