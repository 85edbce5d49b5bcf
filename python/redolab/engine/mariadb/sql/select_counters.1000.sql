-- Every cumulative counter, one row. InnoDB gives a transaction that writes two numbers. A checkpoint's flushes
-- of data files are among Innodb_data_fsyncs. The binary log is flushed for each group of commits, or never.
SELECT MAX(IF(VARIABLE_NAME = 'UPTIME', VARIABLE_VALUE, NULL)) + 0 AS uptime_s,
       FLOOR(MAX(IF(VARIABLE_NAME = 'INNODB_MAX_TRX_ID', VARIABLE_VALUE, NULL)) / 2) AS server_commits,
       SUM(IF(VARIABLE_NAME IN ('HANDLER_WRITE', 'HANDLER_UPDATE'), VARIABLE_VALUE, 0)) AS server_rows,
       MAX(IF(VARIABLE_NAME = 'INNODB_OS_LOG_WRITTEN', VARIABLE_VALUE, NULL)) + 0 AS log_bytes,
       MAX(IF(VARIABLE_NAME = 'INNODB_LOG_WRITES', VARIABLE_VALUE, NULL)) + 0 AS log_writes,
       MAX(IF(VARIABLE_NAME = 'INNODB_DATA_FSYNCS', VARIABLE_VALUE, NULL)) + 0 AS log_flushes,
       MAX(IF(VARIABLE_NAME = 'BINLOG_GROUP_COMMITS', VARIABLE_VALUE, NULL)) + 0 AS binlog_groups,
       MAX(IF(VARIABLE_NAME = 'BINLOG_BYTES_WRITTEN', VARIABLE_VALUE, NULL)) + 0 AS binlog_bytes,
       CASE @@sync_binlog
         WHEN 1 THEN MAX(IF(VARIABLE_NAME = 'BINLOG_GROUP_COMMITS', VARIABLE_VALUE, NULL)) + 0
         WHEN 0 THEN 0
       END AS binlog_flushes,
       SUM(IF(VARIABLE_NAME = 'INNODB_BUFFER_POOL_READ_REQUESTS', VARIABLE_VALUE, 0))
         - SUM(IF(VARIABLE_NAME = 'INNODB_BUFFER_POOL_READS', VARIABLE_VALUE, 0)) AS buffer_hits,
       SUM(IF(VARIABLE_NAME = 'INNODB_BUFFER_POOL_READS', VARIABLE_VALUE, 0)) AS buffer_reads,
       MAX(IF(VARIABLE_NAME = 'INNODB_HISTORY_LIST_LENGTH', VARIABLE_VALUE, NULL)) + 0 AS history_list_length
FROM information_schema.GLOBAL_STATUS
