"""Explanation pages: reading the numbers, rules, ACT and YCSB, load generator, submission and glossary."""
