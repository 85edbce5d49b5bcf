-- What a server is and how its commits go; a variable that it does not have gives no row.
SHOW GLOBAL VARIABLES WHERE Variable_name IN (
    'version', 'version_comment', 'aurora_version', 'hostname', 'port', 'datadir', 'socket',
    'read_only', 'super_read_only', 'innodb_read_only', 'innodb_force_recovery', 'offline_mode',
    'transaction_read_only', 'tx_read_only', 'max_prepared_stmt_count',
    'wsrep_on', 'group_replication_group_name',
    'log_bin', 'binlog_storage_engine', 'binlog_format', 'performance_schema',
    'innodb_flush_method', 'innodb_doublewrite', 'innodb_flush_log_at_timeout', 'innodb_log_file_write_through',
    'innodb_flush_log_at_trx_commit', 'sync_binlog',
    'rpl_semi_sync_master_enabled', 'rpl_semi_sync_source_enabled',
    'rpl_semi_sync_master_timeout', 'rpl_semi_sync_source_timeout',
    'rpl_semi_sync_master_wait_for_slave_count', 'rpl_semi_sync_source_wait_for_replica_count'
)
