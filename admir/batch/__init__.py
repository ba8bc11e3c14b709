"""Many videos and many questions."""
