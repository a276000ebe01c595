"""Accounts: login, membership in organisations, and API tokens."""
