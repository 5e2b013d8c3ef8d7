"""The reference CPU plugin: a native library and its manifest, found through this package's folder.

Nothing is imported from here but the Python kernels of `long_tail`, when one of them is needed. The host
locates `cpu.json` beside this file without importing the package, and opens the library that it names.
"""
