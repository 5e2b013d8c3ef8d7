"""Calls that show what each composite op means: operands and attributes for every variant of it."""

from conformance.samples.draw import Draw, Sample
from conformance.samples.table import has_large_samples, has_samples, large_samples, samples

__all__ = ["Draw", "Sample", "has_large_samples", "has_samples", "large_samples", "samples"]
