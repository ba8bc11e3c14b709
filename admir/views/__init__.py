"""A trace, an answer and a memory for people."""
