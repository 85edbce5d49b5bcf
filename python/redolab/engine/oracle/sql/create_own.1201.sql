-- A table with one row for each session.
create table redolab_own_{number} (value number not null)
