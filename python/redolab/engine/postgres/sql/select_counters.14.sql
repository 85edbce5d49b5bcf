-- Every cumulative counter, one row. `epoch` changes when any of them started anew.
select concat_ws(' ', pg_postmaster_start_time(), w.stats_reset, b.stats_reset, d.stats_reset) as epoch,
       w.wal_bytes::float8 as log_bytes,
       w.wal_fpi::float8 as log_full_page_images,
       w.wal_write::float8 as log_writes,
       w.wal_sync::float8 as log_flushes,
       w.wal_write_time / 1000 as log_write_time_s,
       w.wal_sync_time / 1000 as log_flush_time_s,
       (b.checkpoints_timed + b.checkpoints_req)::float8 as checkpoints,
       (select coalesce(sum(vacuum_count + autovacuum_count), 0)::float8 from pg_stat_all_tables) as vacuums,
       (select coalesce(sum(n_tup_ins + n_tup_upd), 0)::float8 from pg_stat_all_tables
         where schemaname = 'redolab' and relname not in ('parameter_journal', 'probe')) as server_rows,
       (select coalesce(sum(heap_blks_hit), 0)::float8 from pg_statio_all_tables
         where schemaname = 'redolab') as buffer_hits,
       (select coalesce(sum(heap_blks_read), 0)::float8 from pg_statio_all_tables
         where schemaname = 'redolab') as buffer_reads,
       (d.active_time + d.idle_in_transaction_time) / 1000 as database_busy_s
from pg_stat_wal w, pg_stat_bgwriter b, pg_stat_database d
where d.datname = current_database()
