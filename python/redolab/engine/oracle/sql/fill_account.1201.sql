-- Adds rows to the table whose rows are updated.
insert into redolab_account (id, value, padding)
select :first_id + level - 1, 0, rpad('x', :padding_bytes, 'x')
from dual
connect by level <= :row_count
