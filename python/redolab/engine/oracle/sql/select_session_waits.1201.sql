-- Reads what each session has waited for since it logged on: waits that have ended.
select e.sid, e.event, e.wait_class, e.total_waits, e.time_waited_micro
from v$session_event e
