"""The command line: thin adapters over the rooms below. Heavy modules are imported only when a command needs them."""
