"""What the pages of experts talk to. Only the server imports it."""
