-- Notes who made the tables.
insert into redolab_run (mark, role, sid, serial)
values (:mark, :role, :sid, :serial)
