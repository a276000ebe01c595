"""Orders and cancellation, the claim of a drive, polls (poll_scheduler.py decides when), and the steps of a run."""
