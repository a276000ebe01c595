"""The page on the register itself: its operator, method, data licence, contact and accessibility."""
