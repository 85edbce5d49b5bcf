-- Reads what the scanning session read and what it made of undo; only for consistent-read.
select s.sid, n.name, s.value
from v$sesstat s
join v$statname n on n.statistic# = s.statistic#
where n.name in ('CR blocks created', 'consistent changes', 'consistent gets',
  'data blocks consistent reads - undo records applied', 'physical reads')
