"""Trace files, read as plain data."""

import json
from pathlib import Path


def read_trace(path: Path) -> list[dict]:
    """The events of a trace file; only a line feed ends a line."""
    return [json.loads(line) for line in Path(path).read_bytes().split(b"\n") if line]
