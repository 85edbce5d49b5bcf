-- The server's clock, and twice the number of transactions that wrote: InnoDB gives each of them two numbers.
SELECT UNIX_TIMESTAMP(SYSDATE(6)) AS at_s, CAST(VARIABLE_VALUE AS UNSIGNED) AS numbers
FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'INNODB_MAX_TRX_ID'
