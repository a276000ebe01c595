"""The reading queue, and runs, slices and YCSB rows from the reader's output. results/intake accepts logs first."""
