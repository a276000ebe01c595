"""The audit trail of accounts: its entries, the signals that cause some of them, and its pages."""
