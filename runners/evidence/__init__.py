"""The log and the drive states of a run: fetched from its host, and submitted through results/intake."""
