"""Notices: what the register sends to people about changes, and about what waits for them.

`providers` names the ways of sending mail. `transport` sends one message and classifies the outcome.
"""
