-- Reads which tables of Redolab are in this user's own schema: needs no privilege.
select t.table_name
from user_tables t
where t.table_name like 'REDOLAB\_%' escape '\'
