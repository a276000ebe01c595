"""The tables of drives: filters, order, columns and limits. webapp/register/product_pages has that of one product."""
