-- Where it comes from that transactions are read-only by default, unless from a database or a role; else no row.
select source from pg_settings
 where name = 'default_transaction_read_only' and setting = 'on'
   and source not in ('database', 'user', 'database user')
