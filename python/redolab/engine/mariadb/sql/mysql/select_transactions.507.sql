-- The server's clock, and a number that grows with every transaction that wrote.
SELECT UNIX_TIMESTAMP(SYSDATE(6)) AS at_s, CAST(VARIABLE_VALUE AS UNSIGNED) AS numbers
FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Handler_commit'
