"""Changes: the public events of the register in sentences, as a list, a feed and monthly summaries."""
