"""The reference CPU plugin: a native library and its manifest, found through this package's folder.

Nothing is imported from here at run time. The host locates `cpu.json` beside this file without importing the
package, and opens the library that the manifest names.
"""
