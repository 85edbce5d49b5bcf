-- How long a DROP waits for a session that is still at work, seconds; of this session alone, no privilege needed.
alter session set ddl_lock_timeout = 60
