"""Storage, issue and withdrawal of certificates. The rules are in results/rules/certification."""
