-- One tick: every server process but Redolab's own helpers, with its posted wait.
select pid, backend_type, coalesce(wait_event_type, '') as wait_class, coalesce(wait_event, '') as event
  from pg_stat_activity
 where pid <> all (%(own)s::int[]) and backend_type is not null
