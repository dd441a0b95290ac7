"""Objects of the scene: modifiers, duplicates that carry results, colliders, contact groups."""
