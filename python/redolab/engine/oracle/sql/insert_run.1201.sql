-- Stores which run made Redolab's tables.
insert into redolab_run (mark, role, sid, serial)
values (:mark, :role, :sid, :serial)
