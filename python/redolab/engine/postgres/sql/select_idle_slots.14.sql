-- Replication slots that nobody reads and for which the server keeps its log; a lost one keeps none.
select s.slot_name as name
  from pg_catalog.pg_replication_slots s
 where not s.active and not s.temporary and s.restart_lsn is not null and s.wal_status is distinct from 'lost'
 order by 1
