"""What polls find: outages and recoveries of hosts, the progress of runs, and telemetry. runners/dispatch polls."""
