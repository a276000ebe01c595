"""Endpoints of the lab, for operators and machines: hosts, devices, dispatches and campaigns."""
