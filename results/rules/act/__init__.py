"""Arithmetic of ACT results: loads, limits, histogram edges and latency tables."""
