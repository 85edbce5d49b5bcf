-- The durability experiment's table: one row per commit, so that a missing one shows.
create table redolab.ledger (
    session int not null,
    entry bigint not null,
    primary key (session, entry)
) with (autovacuum_enabled = false);
