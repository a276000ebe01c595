"""Product pages: facts, runs, load ladder and certificates. Names and part numbers that identify a product."""
