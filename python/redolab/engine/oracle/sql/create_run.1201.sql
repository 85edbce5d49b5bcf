-- Created first and dropped last: it identifies the run that owns the tables.
create table redolab_run (
  mark varchar2(32) not null,
  role varchar2(8) not null,
  sid number not null,
  serial number not null
)
