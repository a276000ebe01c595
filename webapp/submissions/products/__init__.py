"""Review pages of products: names, facts, list prices, aliases, merges and splits."""
