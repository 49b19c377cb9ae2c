"""A study in a database: SQLite for one machine, PostgreSQL for several. Records of what people did are append-only."""
