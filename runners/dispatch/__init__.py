"""Orders, the claim of a drive, the polls (which host is asked when: scheduler.py), and the next step of each run."""
