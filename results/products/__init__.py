"""Changes of products by reviewers: facts, list prices, names, merges and splits; each is one transaction."""
