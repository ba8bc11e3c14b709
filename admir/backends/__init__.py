"""The backends: protocols in `base`, rules and word lists in `offline`."""
