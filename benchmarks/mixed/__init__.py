"""Parts of mixed_load.py: the clients, the samples of processes, and the faults."""
