"""The servers that a command is given: by their URL, as an engine, or by a name of the user's."""
