"""Start, supervision and stop of the processes of one machine: `manage.py up`, and the servers of a test session."""
