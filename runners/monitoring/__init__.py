"""Records of polls: outages of hosts, progress of runs, and telemetry. runners/dispatch decides when to poll a host."""
