"""Files that stay on hosts: late archiving and cleanup. Also the retirement and the periodic checks of hosts."""
