SHOW GLOBAL STATUS WHERE Variable_name IN (
    'Uptime', 'Connections',
    'Innodb_max_trx_id', 'Binlog_commits', 'Binlog_cache_use', 'Binlog_group_commits',
    'Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted',
    'Handler_write', 'Handler_update', 'Handler_delete',
    'Innodb_log_writes', 'Innodb_os_log_fsyncs', 'Innodb_data_fsyncs', 'Innodb_os_log_written',
    'Innodb_row_lock_waits', 'Innodb_row_lock_time', 'Innodb_row_lock_current_waits'
)
