"""From positions to deformation gradients and from element matrices to the system: done once per mesh, then
refilled.
"""
