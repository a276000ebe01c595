"""Personal data: its export, the closing of an account, and the removal of what is no longer needed.

docs/privacy.md lists each field with its purpose and its period.
"""
