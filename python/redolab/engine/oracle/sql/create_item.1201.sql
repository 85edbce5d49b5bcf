-- Creates a table without an index, into which sessions insert.
create table redolab_item (
  session_no number(5) not null,
  id number(12) not null,
  padding varchar2(1000)
)
