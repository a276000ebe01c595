"""Import and check of published figures that have no log. results/intake accepts logs."""
