"""Simulated lab hosts in virtual time. Each simulated drive counts its concurrent loads itself."""
