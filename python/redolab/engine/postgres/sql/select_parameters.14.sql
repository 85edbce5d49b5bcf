-- The server's parameters named in `names`: value, from where it comes, and whether this role may change it.
select name, current_setting(name) as value, context, source,
       coalesce(sourcefile like '%%postgresql.auto.conf', false) as in_auto_conf,
       (select rolsuper from pg_roles where rolname = current_user) as may_set,
       (select rolsuper from pg_roles where rolname = current_user) as may_alter_system
  from pg_settings where name = any (%(names)s)
