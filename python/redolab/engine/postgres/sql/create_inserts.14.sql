-- One table without an index, and the loop every session runs. The unit of work is a row.
create table redolab.item (
    session int not null,
    entry bigint not null,
    padding text not null
) with (autovacuum_enabled = false);
alter table redolab.item alter column padding set storage plain;

-- Commit times are counted in microseconds up to a millisecond, in classes of 0.2 % above it.
create function redolab.class_of(us int) returns int immutable parallel safe
language sql
return case when us < 1000 then greatest(us, 0) else 1000 + (500 * ln(us / 1000.0::float8))::int end;

create function redolab.class_us(class int) returns float8 immutable parallel safe
language sql
return case when class < 1000 then class else 1000 * exp((class - 1000) / 500.0::float8) end;

-- Whole commits until `deadline` on the server's own clock, or until `quota` rows are there; the other of
-- the two is null. After each commit it is busy for `pause_s` without touching anything.
create procedure redolab.insert_loop(
    session int, rows_per_commit int, quota bigint, deadline timestamptz, padding_bytes int,
    names text[], settings text[], timed boolean, pause_s float8,
    inout units bigint default 0, inout commits bigint default 0, inout rows bigint default 0,
    inout failed bigint default 0, inout elapsed_s float8 default 0,
    inout times_us float8[] default null, inout times_commits int[] default null)
language plpgsql as $$
declare
    started timestamptz := clock_timestamp();
    filler text := repeat('x', padding_bytes);
    committing timestamptz;
    paused timestamptz;
    class int;
    counts int[] := array_fill(0, array[10001]);
begin
    while coalesce(rows < quota, clock_timestamp() < deadline) loop
        for i in 1 .. cardinality(names) loop
            perform set_config(names[i], settings[i], true);
        end loop;
        for i in 1 .. rows_per_commit loop
            insert into redolab.item values (session, rows + i, filler);
        end loop;
        if timed then
            committing := clock_timestamp();
            commit;
            class := redolab.class_of((1e6 * date_part('epoch', clock_timestamp() - committing))::int);
            counts[class + 1] := counts[class + 1] + 1;
        else
            commit;
        end if;
        commits := commits + 1;
        rows := rows + rows_per_commit;
        if pause_s > 0 then
            paused := least(clock_timestamp() + make_interval(secs => pause_s), deadline);
            while clock_timestamp() < paused loop
            end loop;
        end if;
    end loop;
    units := rows;
    elapsed_s := extract(epoch from clock_timestamp() - started);
    if timed then
        select array_agg(redolab.class_us(place::int - 1) order by place), array_agg(count order by place)
        into times_us, times_commits from unnest(counts) with ordinality as counted(count, place) where count > 0;
    end if;
end
$$;
