"""Campaigns: the search for the highest load that one drive sustains, one dispatch at a time.

webapp/register/product_pages shows the load ladder of a product.
"""
