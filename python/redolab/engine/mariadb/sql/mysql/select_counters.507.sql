-- Every cumulative counter, one row. A transaction in the binary log uses its cache once; without that log
-- performance_schema counts transactions, those that only read as well; 0 where it is told not to. InnoDB's own
-- trx_rw_commits loses a few under load. MISC holds flushes, and the few calls that begin a file.
SELECT s.uptime_s,
       IF(@@log_bin, s.binlog_cache_use, NULLIF(t.transactions, 0)) AS server_commits,
       s.server_rows,
       s.log_bytes,
       f.log_writes,
       f.log_write_time_s,
       s.log_flushes,
       f.log_flush_time_s,
       f.binlog_flushes,
       f.binlog_flush_time_s,
       f.binlog_bytes,
       s.buffer_hits,
       s.buffer_reads,
       m.history_list_length
FROM (SELECT MAX(IF(VARIABLE_NAME = 'Uptime', VARIABLE_VALUE, NULL)) + 0 AS uptime_s,
             MAX(IF(VARIABLE_NAME = 'Binlog_cache_use', VARIABLE_VALUE, NULL)) + 0 AS binlog_cache_use,
             SUM(IF(VARIABLE_NAME IN ('Innodb_rows_inserted', 'Innodb_rows_updated'), VARIABLE_VALUE, 0))
               AS server_rows,
             MAX(IF(VARIABLE_NAME = 'Innodb_os_log_written', VARIABLE_VALUE, NULL)) + 0 AS log_bytes,
             MAX(IF(VARIABLE_NAME = 'Innodb_os_log_fsyncs', VARIABLE_VALUE, NULL)) + 0 AS log_flushes,
             SUM(IF(VARIABLE_NAME = 'Innodb_buffer_pool_read_requests', VARIABLE_VALUE, 0))
               - SUM(IF(VARIABLE_NAME = 'Innodb_buffer_pool_reads', VARIABLE_VALUE, 0)) AS buffer_hits,
             SUM(IF(VARIABLE_NAME = 'Innodb_buffer_pool_reads', VARIABLE_VALUE, 0)) AS buffer_reads
        FROM performance_schema.global_status) s,
     (SELECT MAX(IF(STATUS = 'enabled', COUNT, NULL)) AS history_list_length
        FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len') m,
     (SELECT MAX(COUNT_STAR) AS transactions
        FROM performance_schema.events_transactions_summary_global_by_event_name
       WHERE EVENT_NAME = 'transaction') t,
     (SELECT MAX(IF(EVENT_NAME LIKE '%/innodb_log_file', COUNT_WRITE, NULL)) AS log_writes,
             MAX(IF(EVENT_NAME LIKE '%/innodb_log_file', SUM_TIMER_WRITE, NULL)) / 1e12 AS log_write_time_s,
             MAX(IF(EVENT_NAME LIKE '%/innodb_log_file', SUM_TIMER_MISC, NULL)) / 1e12 AS log_flush_time_s,
             MAX(IF(EVENT_NAME LIKE '%/binlog', COUNT_MISC, NULL)) AS binlog_flushes,
             MAX(IF(EVENT_NAME LIKE '%/binlog', SUM_TIMER_MISC, NULL)) / 1e12 AS binlog_flush_time_s,
             MAX(IF(EVENT_NAME LIKE '%/binlog', SUM_NUMBER_OF_BYTES_WRITE, NULL)) AS binlog_bytes
        FROM performance_schema.file_summary_by_event_name
       WHERE EVENT_NAME IN ('wait/io/file/innodb/innodb_log_file', 'wait/io/file/sql/binlog')) f
