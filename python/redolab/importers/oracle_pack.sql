-- redolab-pack.sql: two readings of an Oracle instance, for Redolab. Made by `redolab oracle-pack`.
--
--   sqlplus user@service @redolab-pack.sql
--
-- It reads seven views, writes redolab-pack.txt in the current directory, and changes nothing. It needs no licence of
-- the Diagnostics Pack: no view of AWR or ASH is read. The user needs SELECT on SYS.V_$INSTANCE, SYS.V_$SYSSTAT,
-- SYS.V_$SYSTEM_EVENT, SYS.V_$SYS_TIME_MODEL, SYS.V_$OSSTAT, SYS.V_$EVENT_HISTOGRAM_MICRO and SYS.V_$PARAMETER, or
-- the role SELECT_CATALOG_ROLE. The file has only names of events and numbers: no statement,
-- no data, no user.
-- Look at the file before you send it, and then:  redolab import oracle-pack redolab-pack.txt
--
-- Between the two readings the script waits. Run it at a time with the load that you want to examine.
define seconds = 600
-- On Windows:  define wait = 'timeout /t'
define wait = 'sleep'

set echo off feedback off heading off pagesize 0 linesize 400 trimspool on tab off verify off termout off
whenever sqlerror continue
alter session set nls_numeric_characters = '.,';
spool redolab-pack.txt
prompt REDOLAB-PACK 1
define phase = begin
-- {reading}
host &wait &seconds
define phase = end
-- {reading}
prompt REDOLAB-PACK END
spool off
exit
