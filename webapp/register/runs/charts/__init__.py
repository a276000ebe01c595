"""Charts of a run page, and the data that they fetch."""
