"""The API of the workers' and managers' pages. Imported only by the server."""
