"""Trusted publishing: CI jobs exchange identity tokens for API tokens of an hour. The CI service stores no secret."""
