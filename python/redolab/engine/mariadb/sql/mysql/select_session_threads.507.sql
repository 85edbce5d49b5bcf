-- Which thread of the operating system serves each connection; null for one that has none now.
SELECT PROCESSLIST_ID AS connection, THREAD_OS_ID AS thread
FROM performance_schema.threads
WHERE PROCESSLIST_ID IS NOT NULL
