select 'I|&phase|' || i.instance_name || '|' || sys_context('USERENV', 'DB_NAME') || '|'
    || sys_context('USERENV', 'DB_UNIQUE_NAME') || '|' || i.version || '|'
    || to_char(systimestamp, 'YYYY-MM-DD HH24:MI:SS.FF3') || '|'
    || to_char(i.startup_time, 'YYYY-MM-DD HH24:MI:SS')
from v$instance i;
select 'S|&phase|' || s.name || '|' || s.value || '|' || s.con_id
from v$sysstat s
where s.name in ('execute count', 'redo blocks written', 'redo entries', 'redo size', 'redo synch time',
    'redo synch writes', 'redo wastage', 'redo write time', 'redo writes', 'user calls', 'user commits',
    'user rollbacks');
select 'E|&phase|' || w.event || '|' || w.wait_class || '|' || w.total_waits || '|' || w.time_waited_micro || '|'
    || w.total_waits_fg || '|' || w.time_waited_micro_fg || '|' || w.con_id
from v$system_event w;
select 'T|&phase|' || t.stat_name || '|' || t.value || '|' || t.con_id
from v$sys_time_model t
where t.stat_name in ('DB time', 'DB CPU', 'background elapsed time', 'background cpu time');
select 'O|&phase|' || o.stat_name || '|' || o.value
from v$osstat o
where o.stat_name in ('BUSY_TIME', 'IDLE_TIME', 'IOWAIT_TIME', 'NUM_CPUS', 'NUM_CPU_CORES', 'NUM_CPU_SOCKETS',
    'SYS_TIME', 'USER_TIME');
select 'H|&phase|' || h.event || '|' || h.wait_time_micro || '|' || h.wait_count || '|' || h.con_id
from v$event_histogram_micro h
where h.event in ('log file parallel write', 'log file sync');
select 'P|&phase|' || p.name || '|' || p.value
from v$parameter p
where p.name in ('commit_logging', 'commit_wait', 'commit_write', 'cpu_count', 'log_buffer', 'timed_statistics');
