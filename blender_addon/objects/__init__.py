"""Objects of the scene: modifiers, duplicates that show bakes, colliders, contact groups."""
