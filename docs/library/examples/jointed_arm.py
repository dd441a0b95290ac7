"""Two bones: a forearm that falls to the limit of its elbow, below an upper arm that a motor turns."""

import numpy as np
import sinew as sw

corners = np.array([[x, y, z] for x in (0.0, 0.3) for y in (-0.02, 0.02) for z in (-0.02, 0.02)])
quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [1, 5, 7, 3], [3, 7, 6, 2], [2, 6, 4, 0]]
frames, across = 48, (0.0, 1.0, 0.0)
target = np.interp(np.arange(frames), [0, 24], [0.0, -0.5])  # the shoulder's angle, rad, at each frame

shoulder = sw.Joint("", "hinge", (0.0, 0.0, 0.0), across, stiffness=1e4, target=target)  # with the world
elbow = sw.Joint("Upper Arm", "hinge", (0.3, 0.0, 0.0), across, limits=(0.0, 1.2))  # rad
bones = [
    sw.Body(
        name=name,
        surface=sw.Surface.of_faces(corners + [x, 0.0, 0.0], quads),
        materials=sw.Material("bone", density=1900.0),
        joints=joint,
        resolution=sw.Resolution("rigid"),
        contact=sw.Contact(bodies=False),
    )
    for name, x, joint in (("Upper Arm", 0.0, shoulder), ("Forearm", 0.3, elbow))
]

for frame in sw.simulate(sw.Job(bodies=bones, frame_end=frames)):
    last = frame
along = [last.bodies[bone.name].positions[[0, 4]] for bone in bones]
upper, fore = (np.arctan2(start[2] - end[2], end[0] - start[0]) for start, end in along)
print(f"the shoulder is at {upper:.3f} rad, the elbow at {fore - upper:.3f} rad")
