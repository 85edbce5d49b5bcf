-- One table without an index, and the loop every session runs. The unit of work is a row.
create table redolab.item (
    session int not null,
    entry bigint not null,
    padding text not null
) with (autovacuum_enabled = false);
alter table redolab.item alter column padding set storage plain;

-- Whole commits until `deadline` on the server's own clock, or until `quota` rows are there; the other of
-- the two is null.
create procedure redolab.insert_loop(
    session int, rows_per_commit int, quota bigint, deadline timestamptz, padding_bytes int,
    names text[], settings text[],
    inout units bigint default 0, inout commits bigint default 0, inout rows bigint default 0,
    inout failed bigint default 0, inout elapsed_s float8 default 0)
language plpgsql as $$
declare
    started timestamptz := clock_timestamp();
    filler text := repeat('x', padding_bytes);
begin
    while coalesce(rows < quota, clock_timestamp() < deadline) loop
        for i in 1 .. cardinality(names) loop
            perform set_config(names[i], settings[i], true);
        end loop;
        for i in 1 .. rows_per_commit loop
            insert into redolab.item values (session, rows + i, filler);
        end loop;
        commit;
        commits := commits + 1;
        rows := rows + rows_per_commit;
    end loop;
    units := rows;
    elapsed_s := extract(epoch from clock_timestamp() - started);
end
$$;
