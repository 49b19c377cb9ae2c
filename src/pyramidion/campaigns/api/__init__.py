"""What the pages of workers and managers talk to. Only the server imports it."""
