-- Creates the table that identifies the run that owns all tables: created first and dropped last.
create table redolab_run (
  mark varchar2(32) not null,
  role varchar2(8) not null,
  sid number not null,
  serial number not null
)
