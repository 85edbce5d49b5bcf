-- What initdb gave the data: copies of them have it too, and no other server.
select system_identifier::text as identity from pg_control_system()
