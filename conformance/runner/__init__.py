"""Running cases in worker processes, so that one bad call costs one case."""
