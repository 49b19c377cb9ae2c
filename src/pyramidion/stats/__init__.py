"""Arrays in, numbers out. Knows no nouns."""
