"""Campaigns: the search for the highest load that one drive sustains, one dispatch at a time."""
