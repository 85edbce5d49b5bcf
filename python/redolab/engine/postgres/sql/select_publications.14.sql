-- Publications that take the tables of the schema redolab: all tables of the database, or those named.
select p.pubname as name, p.puballtables as all_tables
  from pg_catalog.pg_publication p
 where p.puballtables
    or exists (select from pg_catalog.pg_publication_rel r
                 join pg_catalog.pg_class c on c.oid = r.prrelid
                 join pg_catalog.pg_namespace n on n.oid = c.relnamespace
                where r.prpubid = p.oid and n.nspname = 'redolab')
 order by 1
