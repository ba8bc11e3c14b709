"""The senses: decoding, shots, screen text, speech, look and embedding, each in one module."""
