-- Reads the CPU time of each session since it logged on; Oracle publishes it up to 5 s late inside a call.
select t.sid, t.stat_name, t.value
from v$sess_time_model t
where t.stat_name in ('DB CPU', 'background cpu time')
