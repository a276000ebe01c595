"""The rules for certificates. results/certification stores and renews the certificates."""
