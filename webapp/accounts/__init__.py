"""Login, membership, API tokens."""
