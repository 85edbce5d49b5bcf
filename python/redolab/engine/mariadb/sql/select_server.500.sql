-- Who is asked, and as whom. `performance_schema` is 0 or 1.
SELECT VERSION() AS version,
       @@version_comment AS comment,
       @@performance_schema AS performance_schema,
       @@hostname AS hostname,
       @@log_bin AS log_bin,
       @@pid_file AS pid_file,
       CONNECTION_ID() AS connection,
       CURRENT_USER() AS role
