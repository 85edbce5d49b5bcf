-- Reads which instance answers and when it started: a later start shows a restart.
select
  i.instance_name,
  i.version,
  to_char(i.startup_time, 'YYYY-MM-DD HH24:MI:SS') as started
from v$instance i
