-- The same for a role that may not read the lines: what is in force of them in their place.
select (select coalesce(jsonb_object_agg(name, current_setting(name)), '{}')
          from pg_settings
         where name = any (%(names)s) and sourcefile like '%%/postgresql.auto.conf') as lines,
       pg_has_role('pg_read_all_settings', 'USAGE') as sees,
       (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.oid::text = %(made)s
           and (c.relkind in ('v', 'm', 'f') or c.relowner <> n.nspowner or c.relhasrules or c.relhastriggers
                or c.relrowsecurity)) as relations,
       (select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.oid::text = %(made)s and p.proowner <> n.nspowner) as functions
