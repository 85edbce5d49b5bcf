-- Reads the CPUs of the database's machine and the time that they were busy, hundredths of a second.
select o.stat_name, o.value
from v$osstat o
where o.stat_name in ('BUSY_TIME', 'IDLE_TIME', 'NUM_CPUS', 'NUM_CPU_CORES')
