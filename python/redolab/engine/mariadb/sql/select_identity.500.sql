-- What tells this server from any other, and its parameters about commits. MariaDB has no server_uuid.
SHOW GLOBAL VARIABLES WHERE Variable_name IN (
    'server_uuid', 'hostname', 'port', 'datadir',
    'innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin', 'binlog_storage_engine', 'innodb_flush_method',
    'innodb_flush_log_at_timeout', 'binlog_commit_wait_usec', 'binlog_commit_wait_count',
    'binlog_group_commit_sync_delay', 'binlog_group_commit_sync_no_delay_count'
)
