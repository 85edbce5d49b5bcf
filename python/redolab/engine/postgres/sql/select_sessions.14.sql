-- Who the server's processes are and what each does now, without Redolab's own (`own`). Where this role may
-- not see a process, `kind` is null. `inside_call`: it runs a procedure that commits in a loop, so that its
-- counters stand still until the procedure ends. `between_transactions`: a long statement that is in no
-- transaction at this moment, so a procedure's, or one that has just ended: the next asking tells.
select pid, backend_type as kind, usename as user, nullif(application_name, '') as application,
       datname as database,
       case when client_port = -1 then 'local' else host(client_addr) end as client,
       state, wait_event_type, wait_event,
       (extract(epoch from backend_start) * 1000000)::int8 as started_us,
       extract(epoch from clock_timestamp() - backend_start)::float8 as age_s,
       coalesce(state = 'active' and xact_start > query_start + interval '1 second', false) as inside_call,
       coalesce(state = 'active' and backend_type = 'client backend' and xact_start is null
                and query_start < clock_timestamp() - interval '1 second', false) as between_transactions
  from pg_stat_activity
 where pid <> all (%(own)s::int[])
