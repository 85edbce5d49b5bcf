-- Sets how many seconds a DROP of this session waits for a session that is still at work; needs no privilege.
alter session set ddl_lock_timeout = 60
