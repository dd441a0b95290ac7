"""Potentials of a body's positions, each with value and gradient; the elastic one also with its Hessian."""
