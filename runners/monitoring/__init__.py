"""What polls find: outages of hosts, the progress of runs, and telemetry. runners/dispatch decides when to poll."""
