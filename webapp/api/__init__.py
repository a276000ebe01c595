"""The API, version 1: endpoints, throttles, and status codes of errors. results/intake stores what is sent.

`authentication` checks the token of each request. Users create tokens on a page of webapp/accounts.
"""
