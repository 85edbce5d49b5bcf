-- Adds rows to the table that is scanned.
insert into redolab_scanned (id, value)
select :first_id + level - 1, 1
from dual
connect by level <= :row_count
