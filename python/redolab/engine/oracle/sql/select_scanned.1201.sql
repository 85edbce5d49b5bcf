-- Scans the whole table.
select /*+ full(s) */ sum(s.value) as total
from redolab_scanned s
