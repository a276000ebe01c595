"""Orders, the claim of a drive, the polls (poll_scheduler.py decides when), and the next step of each run."""
