"""Dispatch pages: order a run, follow its progress, cancel and retry it."""
