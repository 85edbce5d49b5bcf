-- Reads every session and background process, and the wait that it is in at this moment.
select
  s.sid,
  s.serial# as serial,
  s.type,
  s.username,
  s.status,
  s.last_call_et,
  s.server,
  s.program,
  s.module,
  s.machine,
  s.service_name,
  nvl2(s.taddr, 1, 0) as in_transaction,
  s.state,
  s.event,
  s.wait_class,
  s.wait_time_micro
from v$session s
