"""Trusted publishing: CI services get short tokens of an organisation for their identity tokens, without a secret."""
