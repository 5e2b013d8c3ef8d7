"""The C contract seen from Python: declarations for cffi, numbers, tables and version rules.

`constants`, `_tables` and `_declarations` are made from the headers by `generate`, through `describe`,
`snapshot` and `emit`; only they and `versions` are used at run time.
"""
