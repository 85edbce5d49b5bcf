-- Reads from Redolab's own table which run made the tables, and its guard process.
select r.mark, r.role, r.sid, r.serial
from redolab_run r
