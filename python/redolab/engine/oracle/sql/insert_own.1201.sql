-- Its row.
insert into redolab_own_{number} (value)
values (0)
