-- Reads how many waits for the log were how long: each bucket ends below WAIT_TIME_MICRO.
select h.event, h.wait_time_micro, h.wait_count, h.con_id
from v$event_histogram_micro h
where h.event in ('log file parallel write', 'log file sync')
