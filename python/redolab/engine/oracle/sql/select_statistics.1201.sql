-- Reads commits, rollbacks and the size of the log since the instance started.
select s.name, s.value, s.con_id
from v$sysstat s
where s.name in ('redo size', 'redo writes', 'user commits', 'user rollbacks')
