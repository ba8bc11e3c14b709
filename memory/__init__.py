"""The offline memory builder (paper 2.2): video -> `Memory`, its hybrid index and its store."""
