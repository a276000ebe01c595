"""Hosts and devices: enrolment, identity, health, and whether a device may be loaded."""
