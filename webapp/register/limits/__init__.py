"""Limits that shares are compared with: the profile's and a reader's own. results/rules/act/limits.py compares."""
