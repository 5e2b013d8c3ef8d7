"""`python -m device_api.cli`: the command line without its script."""

from device_api.cli import main

main()
