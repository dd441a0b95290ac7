"""What the artist sets, kept in the .blend."""
