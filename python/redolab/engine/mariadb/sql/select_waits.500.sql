-- The innermost wait under way of each connection; the nesting ones around it are older.
SELECT t.PROCESSLIST_ID AS connection, w.EVENT_NAME AS name
FROM performance_schema.events_waits_current w
JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID
WHERE w.END_EVENT_ID IS NULL AND t.PROCESSLIST_ID IS NOT NULL
ORDER BY w.EVENT_ID
