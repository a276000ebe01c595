"""Pages of submissions: upload form, progress, and review queue. results/intake stores the logs."""
