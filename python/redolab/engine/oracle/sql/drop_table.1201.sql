-- Removes one of Redolab's tables.
drop table {table} purge
