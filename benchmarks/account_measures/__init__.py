"""Measures of accounts, uploads and submissions, each against a whole register; their sizes are parameters."""
