"""The op set: what each op is called, takes, gives and means, written once in YAML and generated from
there."""
