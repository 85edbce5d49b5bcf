-- Sessions of this server, in whichever database, that hold one of Redolab's advisory locks (`keys`).
select l.pid, a.usename as username, d.datname as database
  from pg_locks l
  left join pg_stat_activity a on a.pid = l.pid
  left join pg_database d on d.oid = l.database
 where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
   and (l.classid::bigint << 32 | l.objid::bigint) = any (%(keys)s::bigint[])
   and (l.pid is null or l.pid <> all (%(own)s::int[]))
 order by l.pid
