-- Creates the table in which each session updates a key range of its own, in half-filled blocks.
create table redolab_account (
  id number(10) not null primary key,
  value number not null,
  padding varchar2(1000)
) pctfree 50
