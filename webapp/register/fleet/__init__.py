"""The fleet check: a list of drives is matched with products, and each drive gets its state in the register."""
