-- Reads parameters that the figures depend on; the parameters of commits have no default value, so their
-- value is NULL until it is set.
select p.name, p.value
from v$parameter p
where p.name in ('commit_logging', 'commit_wait', 'commit_write', 'cpu_count', 'statistics_level', 'timed_statistics')
