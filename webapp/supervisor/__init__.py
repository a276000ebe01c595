"""What starts, watches and stops the processes of one machine: `manage.py up`, and the servers of a test session."""
