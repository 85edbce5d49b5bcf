-- Creates the table that one session scans while another session updates it.
create table redolab_scanned (
  id number(10) not null primary key,
  value number not null
)
