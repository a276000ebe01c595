"""What stays on hosts: late fetches, removal of run directories, retirement of hosts, and maintenance."""
