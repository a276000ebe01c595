"""The column store: all public results in memory, for the tables of drives and their data file."""
