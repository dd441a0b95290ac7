"""A coarse body that swings like a fine one: vibrations at rest, and a potential of the stretches that matches them."""
