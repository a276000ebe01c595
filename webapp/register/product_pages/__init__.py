"""The page of one product: the answer, its position among comparable drives, alternatives, runs and certificates.

The load ladder shows the results of one product by load. runners/campaigns decides which load is tested next.
webapp/register/products has the names and part numbers that identify a product.
"""
