-- Which standbys commits wait for, and how many confirm now; null where this role may not see it.
select current_setting('synchronous_standby_names') as names,
       case when count(*) = count(sync_state)
            then count(*) filter (where sync_state in ('sync', 'quorum')) end as confirming
  from pg_stat_replication
