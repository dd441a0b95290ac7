"""Contact: collision surfaces and contact points, obstacles, penalty and barrier potentials, and friction."""
