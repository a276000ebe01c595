"""Snapshots: copies of every public page and file, served before Django runs and while the database is down.

`updates` renders the pages with `rendering` and writes them to a `store`. `serving` sends them. `database_down` answers
requests that no copy covers.
"""
