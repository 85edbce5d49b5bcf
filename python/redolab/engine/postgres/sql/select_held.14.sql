-- In one look: the lines of postgresql.auto.conf that set the parameters named in `names`, and what stands in the
-- schema that is no plain table or function of its owner.
select (select coalesce(jsonb_object_agg(name, line), '{}')
          from (select distinct on (lower(name)) lower(name) as name, setting as line
                  from pg_file_settings
                 where sourcefile like '%%/postgresql.auto.conf' and lower(name) = any (%(names)s)
                 order by lower(name), seqno desc) lines) as lines,
       true as sees,
       (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.oid::text = %(made)s
           and (c.relkind in ('v', 'm', 'f') or c.relowner <> n.nspowner or c.relhasrules or c.relhastriggers
                or c.relrowsecurity)) as relations,
       (select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.oid::text = %(made)s and p.proowner <> n.nspowner) as functions
