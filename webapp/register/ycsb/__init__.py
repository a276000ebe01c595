"""YCSB pages: published figures and claims, and the register's own sweeps. A single run is in webapp/register/runs."""
