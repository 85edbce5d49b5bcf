-- What each thread is, and the program at the other end of a connection.
SELECT t.THREAD_OS_ID AS thread, t.NAME AS kind, a.ATTR_VALUE AS program
FROM performance_schema.threads t
LEFT JOIN performance_schema.session_connect_attrs a
       ON a.PROCESSLIST_ID = t.PROCESSLIST_ID AND a.ATTR_NAME = 'program_name'
