"""The sizing page: a workload becomes a number of drives. results/rules/sizing.py has the arithmetic."""
