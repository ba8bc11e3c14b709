"""The minds: protocols in `base`, rules and word lists in `offline`."""
