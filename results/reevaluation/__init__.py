"""Re-evaluation of logs with a new reader, rules or slice length. results/ingest writes first readings."""
