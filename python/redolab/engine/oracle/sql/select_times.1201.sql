-- Reads the CPU time of all sessions and of all background processes since the instance started.
select t.stat_name, t.value, t.con_id
from v$sys_time_model t
where t.stat_name in ('DB CPU', 'background cpu time')
