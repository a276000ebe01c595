"""The text that explains each column of tables and exports."""
