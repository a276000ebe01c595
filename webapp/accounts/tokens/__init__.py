"""Tokens of the API: who may have which, and the pages where people create and revoke them."""
