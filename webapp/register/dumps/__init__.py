"""Dumps: the whole public register as files.

`tables` defines their contents, `writer` writes them, `store` is their place on disk, `views` lists them, `importer`
loads one into an empty register.
"""
