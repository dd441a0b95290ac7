"""Contact: barriers between surfaces, penalty springs between points and colliders, friction, and collision proxies."""
