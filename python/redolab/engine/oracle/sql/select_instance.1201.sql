-- The instance that answers and the time of its start: a later start shows a restart.
select
  i.instance_name,
  i.version,
  to_char(i.startup_time, 'YYYY-MM-DD HH24:MI:SS') as started
from v$instance i
