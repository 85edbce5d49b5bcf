-- What the server process `pid` waits for, and who holds the lock if that is one; a row for each of them.
select a.wait_event_type as event_type, a.wait_event as event, b.pid as blocker, h.usename as username,
       coalesce(nullif(h.application_name, ''), h.backend_type, 'unknown') as application
  from pg_stat_activity a
  left join lateral unnest(pg_blocking_pids(a.pid)) as b(pid) on true
  left join pg_stat_activity h on h.pid = b.pid
 where a.pid = %(pid)s and a.wait_event_type in ('Lock', 'IPC')
