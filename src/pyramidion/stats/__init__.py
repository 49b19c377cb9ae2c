"""Arrays in, numbers out. Independent of the domain model."""
