"""The whole public register as files: `tables` says what is in them, `writing` makes them, `reading` takes them in.

`shelf` is where they stand, `page` shows them.
"""
