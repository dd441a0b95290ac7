"""Whether a job is wise, what it will cost, and what an artist should know of it."""
