-- What ALTER SYSTEM has written of the parameters named in `names`; the last line that names one wins.
select distinct on (lower(name)) lower(name) as name, setting as line
  from pg_file_settings
 where sourcefile like '%%/postgresql.auto.conf' and lower(name) = any (%(names)s)
 order by lower(name), seqno desc
