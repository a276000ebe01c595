"""All drives of the lab on one page: their state, search, and campaigns on a selection."""
