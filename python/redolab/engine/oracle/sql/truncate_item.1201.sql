-- Before each sample.
truncate table redolab_item
