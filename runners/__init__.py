"""Lab hosts, devices and dispatches: how runs get executed. The native test program is in drivetest/."""
