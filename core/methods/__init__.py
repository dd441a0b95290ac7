"""The simulation methods: models, subspaces, EigenFit and the solvers."""
