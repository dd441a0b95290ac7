"""Affine handles with sparse weights that follow geometry and materials ([SMS25])."""
