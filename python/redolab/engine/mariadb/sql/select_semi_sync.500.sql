-- Whether a commit waits for replicas now, and how many are there that confirm.
SHOW GLOBAL STATUS WHERE Variable_name IN (
    'Rpl_semi_sync_master_status', 'Rpl_semi_sync_source_status',
    'Rpl_semi_sync_master_clients', 'Rpl_semi_sync_source_clients'
)
