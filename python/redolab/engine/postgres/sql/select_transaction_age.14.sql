-- How old the oldest transaction id of each database is, the oldest first.
select d.datname as database, pg_catalog.age(d.datfrozenxid) as age, d.datallowconn as may_connect
  from pg_catalog.pg_database d
 order by 2 desc, 1
