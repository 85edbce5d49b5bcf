-- Every connection but this one. Threads of replication have the user that SHOW PROCESSLIST gives them.
SELECT p.PROCESSLIST_ID AS connection, p.THREAD_OS_ID AS thread,
       CASE WHEN p.NAME LIKE 'thread/sql/replica\_%' OR p.NAME LIKE 'thread/sql/slave\_%' THEN 'system user'
            ELSE p.PROCESSLIST_USER END AS user,
       p.PROCESSLIST_HOST AS host, p.PROCESSLIST_DB AS db, p.PROCESSLIST_COMMAND AS command,
       NULL AS query, t.trx_state AS transaction
FROM performance_schema.threads p
LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.PROCESSLIST_ID
WHERE p.PROCESSLIST_ID IS NOT NULL AND p.PROCESSLIST_ID <> CONNECTION_ID()
