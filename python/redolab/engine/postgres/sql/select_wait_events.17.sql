-- Every wait event the server itself names; extensions add theirs. Within a class of the server's own, but
-- for LWLock and Lock, they come in the order of their numbers.
select type, name from pg_wait_events
