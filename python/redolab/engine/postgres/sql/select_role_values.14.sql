-- Values of parameters named in `names` that roles have of their own, this role's first; '' for all databases.
select lower(split_part(entry, '=', 1)) as name, r.rolname::text as role, coalesce(d.datname::text, '') as database,
       substr(entry, strpos(entry, '=') + 1) as value
  from pg_db_role_setting s
  join pg_roles r on r.oid = s.setrole
  left join pg_database d on d.oid = s.setdatabase
 cross join unnest(s.setconfig) as entry
 where lower(split_part(entry, '=', 1)) = any (%(names)s)
 order by r.rolname = current_user desc, r.rolname, d.datname, 1
 limit %(most)s
