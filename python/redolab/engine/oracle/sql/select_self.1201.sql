-- Reads the session that asks, its user and its instance: needs no privilege.
select
  sys_context('USERENV', 'SESSION_USER') as username,
  sys_context('USERENV', 'CURRENT_SCHEMA') as current_schema,
  sys_context('USERENV', 'SID') as sid,
  sys_context('USERENV', 'CON_ID') as con_id,
  sys_context('USERENV', 'CON_NAME') as con_name,
  sys_context('USERENV', 'CDB_NAME') as cdb_name,
  sys_context('USERENV', 'DB_UNIQUE_NAME') as unique_name,
  sys_context('USERENV', 'DATABASE_ROLE') as database_role,
  sys_context('USERENV', 'SERVICE_NAME') as service_name
from dual
