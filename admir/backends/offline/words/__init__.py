"""Word lists of the offline mind, as data."""
