"""A machine with Debian's smallest system and Python alone, where Redolab is installed from its wheel."""
