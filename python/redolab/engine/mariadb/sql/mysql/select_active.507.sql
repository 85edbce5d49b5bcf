-- Sessions with a statement, by connection. MySQL numbers no statements here.
SELECT PROCESSLIST_ID AS connection, PROCESSLIST_STATE AS stage, NULL AS query
FROM performance_schema.threads
WHERE PROCESSLIST_COMMAND <> 'Sleep' AND PROCESSLIST_ID <> CONNECTION_ID()
