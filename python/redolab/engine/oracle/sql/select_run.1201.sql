-- The run that made Redolab's tables, and its guard, in a table of its own.
select r.mark, r.role, r.sid, r.serial
from redolab_run r
