-- Whose the schema `redolab` is, also where it was renamed: its owner, its comment, and whether its two lists are
-- plain tables of that owner.
select n.oid::text as made, n.nspname as name, pg_get_userbyid(n.nspowner) as owner,
       n.nspowner = (select oid from pg_roles where rolname = current_user) as mine,
       obj_description(n.oid, 'pg_namespace') as comment,
       (select count(*) from pg_class c
         where c.relnamespace = n.oid and c.relname in ('parameter_journal', 'teardown')
           and c.relkind = 'r' and c.relowner = n.nspowner
           and not c.relhasrules and not c.relhastriggers and not c.relrowsecurity and not c.relhassubclass) = 2
           as plain
  from pg_namespace n
 where n.nspname = 'redolab' or n.oid::text = %(made)s
       or obj_description(n.oid, 'pg_namespace') = any (%(comments)s::text[])
 order by (n.oid::text = %(made)s) desc, n.nspname = 'redolab'
