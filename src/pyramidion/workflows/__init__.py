"""Where the parts meet: the only layer that knows formats and methods at once."""
