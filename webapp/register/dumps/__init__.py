"""Dumps: the whole public register as files.

`tables` defines their contents, `writer` writes them, `store` keeps them on disk, `views` lists them, and `importer`
loads one into an empty register.
"""
