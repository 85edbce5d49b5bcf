-- Which thread of the operating system serves each connection; 0 for one that has none now.
SELECT PROCESSLIST_ID AS connection, COALESCE(THREAD_OS_ID, 0) AS thread
FROM performance_schema.threads
WHERE PROCESSLIST_ID IS NOT NULL
