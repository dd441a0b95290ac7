"""Splitting of closed surfaces along cutters and seams."""
