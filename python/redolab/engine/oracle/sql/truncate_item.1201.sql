-- Empties the table of inserted rows before each sample.
truncate table redolab_item
