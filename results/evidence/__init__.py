"""Stored files: their bytes on disk by hash, names and numbered lines. results/intake decides what is stored."""
