-- One table, a key range of its own per session, and the loop every session runs.
create table redolab.account (
    id int not null,
    value bigint not null,
    padding text not null
) with (fillfactor = 50, autovacuum_enabled = false);
alter table redolab.account alter column padding set storage plain;

-- So many turns of an empty loop, for a client; they give 0.
create function redolab.turns(turns int) returns int language plpgsql as $$
begin
    for i in 1 .. turns loop
    end loop;
    return 0;
end
$$;

-- Loops until `deadline` on the server's own clock, or over `quota` commits; the other of the two is null.
-- A unit of work carries `turns` turns of an empty loop, which take CPU and nothing else.
-- The key is drawn before the statement: a volatile function in WHERE would be evaluated for every row
-- and turn the look-up into a scan.
create procedure redolab.update_loop(
    first_id int, ids int, quota bigint, deadline timestamptz, names text[], settings text[],
    turns int,
    inout units bigint default 0, inout commits bigint default 0, inout rows bigint default 0,
    inout failed bigint default 0, inout elapsed_s float8 default 0)
language plpgsql as $$
declare
    started timestamptz := clock_timestamp();
    chosen int;
    changed int;
begin
    while coalesce(commits < quota, clock_timestamp() < deadline) loop
        for i in 1 .. cardinality(names) loop
            perform set_config(names[i], settings[i], true);
        end loop;
        for i in 1 .. turns loop
        end loop;
        chosen := first_id + floor(random() * ids)::int;
        update redolab.account set value = value + 1 where id = chosen;
        get diagnostics changed = row_count;
        commit;
        commits := commits + 1;
        rows := rows + changed;
        if changed <> 1 then
            failed := failed + 1;
        end if;
    end loop;
    units := commits;
    elapsed_s := extract(epoch from clock_timestamp() - started);
end
$$;
