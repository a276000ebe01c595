"""The calendar of the lab: the expected runs, campaigns and maintenance of each host."""
