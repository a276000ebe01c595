"""Product pages: facts, runs, load ladder and certificates. Names and part numbers that identify a product.

The load ladder shows the results of one product by load. runners/campaigns decides which load is tested next.
"""
