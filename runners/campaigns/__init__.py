"""Campaigns: the dispatches that climb a load ladder for one drive, one step at a time."""
