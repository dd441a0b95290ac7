"""Potentials: each gives value and gradient, and the elastic one its Hessian, of a body's positions."""
