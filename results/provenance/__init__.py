"""The source of each published number: the log line, the reader version and the profile hash."""
