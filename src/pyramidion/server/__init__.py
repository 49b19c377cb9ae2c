"""The study server: one application, its security, and what all pages share."""
