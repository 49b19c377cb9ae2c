"""A study in a database: SQLite for one machine, PostgreSQL for several. What people did is only ever added to."""
