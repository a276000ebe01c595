"""Limits on requests, shared by all processes of the register: the client's address, and the counts in Redis."""
