"""Statements that make a setting, in the server's own language, and settings in words."""
