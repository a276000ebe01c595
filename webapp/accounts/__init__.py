"""Accounts: login, membership in organisations, and API tokens.

`views` creates and revokes tokens. `requests` finds the token of a request; webapp/api refuses requests without one.
"""
