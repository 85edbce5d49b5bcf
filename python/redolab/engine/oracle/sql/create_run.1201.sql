-- Made first and dropped last: it says whose the tables are.
create table redolab_run (
  mark varchar2(32) not null,
  role varchar2(8) not null,
  sid number not null,
  serial number not null
)
