-- The files that a reload reads beside the configuration, and whether they were written after the last one.
select regexp_replace(current_setting(of), '^.*/', '') as file,
       (pg_stat_file(current_setting(of))).modification > pg_conf_load_time() as changed
  from unnest(array['hba_file', 'ident_file']) as of
