-- The server's counters since it started, one row. `epoch` changes when any of them started anew. The next
-- transaction id and the log's position also move while a procedure commits in a loop; the others do not.
select concat_ws(' ', pg_postmaster_start_time(), w.stats_reset, d.stats_reset) as epoch,
       pg_postmaster_start_time() as started,
       pg_is_in_recovery() as in_recovery,
       pg_snapshot_xmax(pg_current_snapshot())::text::float8 as transactions,
       d.commits,
       d.rows_written,
       w.wal_write::float8 as log_writes,
       w.wal_sync::float8 as log_flushes,
       w.wal_write_time / 1000 as log_write_time_s,
       w.wal_sync_time / 1000 as log_flush_time_s,
       case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') end::float8
           as log_bytes
  from pg_stat_wal w,
       (select max(stats_reset) as stats_reset,
               sum(xact_commit)::float8 as commits,
               sum(tup_inserted + tup_updated + tup_deleted)::float8 as rows_written
          from pg_stat_database) d
