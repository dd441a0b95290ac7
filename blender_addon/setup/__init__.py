"""How a body begins, what suits it, and what it will cost."""
