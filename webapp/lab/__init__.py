"""Operators' pages of the lab: hosts, devices, dispatches and campaigns. The package runners does the work."""
