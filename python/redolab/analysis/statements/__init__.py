"""What to type to have a setting, in the server's own language, and settings in words."""
