"""Staff pages: hosts, devices, dispatches."""
