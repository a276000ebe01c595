"""The page of the templates of orders that a lab saved."""
