-- What stands in the configuration files now, beside what is in force; the last line that names a parameter wins.
select coalesce(f.name, s.name) as name, f.setting as in_file, s.setting as in_force, s.unit, s.vartype as kind,
       s.context, s.source, f.sourceline as line, f.error,
       regexp_replace(f.sourcefile, '^.*/', '') as file
  from (select distinct on (name) * from pg_file_settings where name is not null order by name, seqno desc) f
  full join (select * from pg_settings) s on lower(s.name) = lower(f.name)
 where f.name is not null or s.source = 'configuration file'
 order by 1
