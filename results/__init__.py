"""Organisations, products, evidence, readings, runs, slices, verdicts, events: what the register knows."""
