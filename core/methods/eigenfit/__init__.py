"""EigenFit: match the vibrations of a coarse body to those of a fine one. Modal analysis at rest, and a potential of
the stretches that corrects the modal stiffness.
"""
