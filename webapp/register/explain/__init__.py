"""Explanation pages: reading the numbers, rules, ACT and YCSB, submission and glossary."""
