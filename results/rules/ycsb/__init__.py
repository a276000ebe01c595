"""Arithmetic of YCSB results: sweeps, crossings, gains and checks of published claims."""
