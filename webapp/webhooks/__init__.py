"""Webhooks: requests to addresses of organisations when something of theirs changes."""
