"""Word lists of the index, as data."""
