"""Expert annotation: pyramids and peers are annotated by commands, stored as events, with unlimited undo and redo."""
