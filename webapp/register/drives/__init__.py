"""The tables of drives: filters, order, columns and limits. webapp/register/products has the page of one product."""
