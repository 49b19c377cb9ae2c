"""The API of the experts' pages. Imported only by the server."""
