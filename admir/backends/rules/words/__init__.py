"""Word lists of the offline backend, as data."""
