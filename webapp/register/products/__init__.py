"""Names and part numbers that identify a product. webapp/register/product_pages has the page of one product."""
