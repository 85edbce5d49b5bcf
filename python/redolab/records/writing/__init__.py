"""Run directories as they are written: new ones, watches, and runs that are measured further."""
