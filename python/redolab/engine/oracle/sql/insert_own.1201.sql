-- Inserts the one row of a session's own table.
insert into redolab_own_{number} (value)
values (0)
