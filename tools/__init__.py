"""The agent's actions (paper Table 2), one module each, registered once in `registry`."""
