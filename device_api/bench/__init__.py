"""How fast a device runs the ops of the op set, measured fairly and compared between devices and runs."""
