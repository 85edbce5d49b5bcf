-- Reads the system privileges of this user, roles included: needs no privilege.
select p.privilege
from session_privs p
