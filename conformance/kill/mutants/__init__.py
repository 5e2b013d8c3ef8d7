"""Mutants of the reference kernels: small changes of their source, and the share that the ops level finds."""

from __future__ import annotations

from conformance.kill.mutants.campaign import run
from conformance.kill.mutants.explained import ListFault
from conformance.kill.mutants.report import MutantReport

__all__ = ["ListFault", "MutantReport", "run"]
