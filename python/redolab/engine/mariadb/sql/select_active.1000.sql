-- Sessions with a statement, by connection.
SELECT ID AS connection, STATE AS stage, QUERY_ID AS query
FROM information_schema.PROCESSLIST
WHERE COMMAND <> 'Sleep' AND ID <> CONNECTION_ID()
