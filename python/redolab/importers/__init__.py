"""Other people's records, read into run directories: the reports of Oracle databases."""
