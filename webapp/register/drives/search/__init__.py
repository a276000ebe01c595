"""The product search on the tables of drives: part number, capacity and words."""
