-- How much stands in the schema that is no plain table or function of its owner.
select (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.oid::text = %(made)s
           and (c.relkind in ('v', 'm', 'f') or c.relowner <> n.nspowner or c.relhasrules or c.relhastriggers
                or c.relrowsecurity)) as relations,
       (select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.oid::text = %(made)s and p.proowner <> n.nspowner) as functions
