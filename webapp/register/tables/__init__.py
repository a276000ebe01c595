"""Columns, cells, marks, sort and exports that several pages of tables share."""
