"""Settings of the user, saved in the .blend."""
