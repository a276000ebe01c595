"""Copies of every public page and file, answered before Django is asked, and when the database is away.

`keeper` has them made by `rendering` and kept in a `store`; `serving` answers from it; `away` says what it cannot.
"""
