"""Campaigns: the search for the highest load that one drive sustains, one dispatch at a time.

webapp/register/products shows the load ladder of a product.
"""
