-- Redolab's only schema; the journal says what must be put back.
create schema redolab;
create table redolab.parameter_journal (
    parameter text primary key,
    value_before text not null,
    line_before text,
    values_set text[] not null
);
-- What the user's own list wants executed at the end, by whoever cleans up.
create table redolab.teardown (statement text not null);
-- Its one row is updated to time a lone commit.
create table redolab.probe (value bigint not null) with (autovacuum_enabled = false);
insert into redolab.probe values (0);
