"""Example runs of the register: their stored logs, and how they come to the site and leave it."""
