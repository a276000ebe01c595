"""Names of products: the product that a stated identity or a former slug means."""
