"""EigenFit: match the vibrations of a coarse body to those of a fine one.

``current_modes.py`` is the published method, with an eigenproblem per step. ``fitted_materials.py`` and ``matching.py``
with ``stretch_potential.py`` correct the stiffness once, from vibrations at rest. ``methods.py`` lists all methods.
``trial_simulation.py`` chooses the method with the smallest error in a trial simulation.
"""
