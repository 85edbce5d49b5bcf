-- Every connection but this one. INNODB_TRX is a cache that is made anew only when nobody has read it for
-- 100 ms: asked more often it stands still.
SELECT p.ID AS connection, p.TID AS thread, p.USER AS user, p.HOST AS host, p.DB AS db,
       p.COMMAND AS command, p.QUERY_ID AS query, MAX(t.trx_state) AS transaction
FROM information_schema.PROCESSLIST p
LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID
WHERE p.ID <> CONNECTION_ID()
GROUP BY p.ID, p.TID, p.USER, p.HOST, p.DB, p.COMMAND, p.QUERY_ID
