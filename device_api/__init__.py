"""device_api: one Python interface to the devices of many vendors."""
