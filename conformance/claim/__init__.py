"""A claim of conformance as one file that another engineer can check without the machine it was made on."""

from conformance.claim.bundle import Bundle, read_bundle, write_bundle
from conformance.claim.verify import CANNOT_PROVE, Finding, verify

__all__ = ["CANNOT_PROVE", "Bundle", "Finding", "read_bundle", "verify", "write_bundle"]
