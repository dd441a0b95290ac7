"""Splitting of bodies along cutters and seams."""
