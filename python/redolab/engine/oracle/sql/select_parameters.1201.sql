-- Parameters that the figures depend on; those of commits have no default value, so theirs is NULL until it is set.
select p.name, p.value
from v$parameter p
where p.name in ('commit_logging', 'commit_wait', 'commit_write', 'cpu_count', 'statistics_level', 'timed_statistics')
