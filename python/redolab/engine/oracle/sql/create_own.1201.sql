-- Creates a session's own table, which has one row.
create table redolab_own_{number} (value number not null)
