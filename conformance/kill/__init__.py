"""The proof that the suite bites: known-bad plugins that it must fail.

`python -m conformance.kill` runs the suite on a plugin with one named fault at a time and says which faults
were caught in the cases that must catch them. A fault that no named case catches is a hole in the suite.
"""

from conformance.kill.report import Part, Progress, build_report

__all__ = ["Part", "Progress", "build_report"]
