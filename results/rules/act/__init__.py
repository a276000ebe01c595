"""Arithmetic of ACT results: loads, limits, histogram edges, latency tables and load ladders."""
