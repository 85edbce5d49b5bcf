-- Which thread of the operating system serves each connection; 0 for one that has none now.
SELECT PROCESSLIST_ID AS connection, THREAD_OS_ID AS thread
FROM performance_schema.threads
WHERE PROCESSLIST_ID IS NOT NULL
