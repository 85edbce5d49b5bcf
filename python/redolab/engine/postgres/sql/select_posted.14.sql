-- Every server process with the wait it posts (`kind` is null where this role may not see it), and no names
-- of others, which may be in any encoding.
select pid, backend_type as kind, coalesce(wait_event_type, '') as wait_class, coalesce(wait_event, '') as event
  from pg_stat_activity
