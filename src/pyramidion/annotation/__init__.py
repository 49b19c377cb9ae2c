"""Expert annotation: pyramids and peers annotated by commands, kept as events, undone and redone without limit."""
