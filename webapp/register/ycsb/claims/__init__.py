"""Claims of publications: their list, the page and the share image of each, and the headline of a brief."""
