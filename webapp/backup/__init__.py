"""Backups of a register: rows at one snapshot, evidence by hash, keys; and their restore with proof."""
