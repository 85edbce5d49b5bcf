-- Reads what all sessions and background processes have waited for since the instance started.
select w.event, w.wait_class, w.total_waits, w.time_waited_micro, w.con_id
from v$system_event w
