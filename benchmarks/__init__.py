"""Benchmarks of device_api beside its peers: `python -m benchmarks {dispatch,ops,memory,import}`."""
