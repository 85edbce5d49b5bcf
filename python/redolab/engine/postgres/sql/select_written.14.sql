-- For a role that may not read the lines: what is in force, and whether it comes from postgresql.auto.conf.
select name, current_setting(name) as value, unit, vartype, source,
       coalesce(sourcefile like '%%/postgresql.auto.conf', false) as written,
       pg_has_role('pg_read_all_settings', 'USAGE') as sees
  from pg_settings where name = any (%(names)s)
