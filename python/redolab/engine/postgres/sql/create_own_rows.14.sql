-- A table with one row for each session, and a loop of its own over it: a loop that took the name of its
-- table would have to plan the update anew each time, and measure that.
create procedure redolab.make_own_rows(sessions int) language plpgsql as $make$
declare
    name text;
begin
    for session in 0 .. sessions - 1 loop
        name := 'own_' || session;
        execute format(
            'create table redolab.%I (a bigint not null) with (fillfactor = 10, autovacuum_enabled = false)',
            name);
        execute format('insert into redolab.%I values (0)', name);
        -- Loops until `deadline` on the server's own clock, or over `quota` commits; the other is null.
        execute format($loop$
            create procedure redolab.%I(
                quota bigint, deadline timestamptz, names text[], settings text[],
                inout units bigint default 0, inout commits bigint default 0, inout rows bigint default 0,
                inout failed bigint default 0, inout elapsed_s float8 default 0)
            language plpgsql as $body$
            declare
                started timestamptz := clock_timestamp();
                changed int;
            begin
                while coalesce(commits < quota, clock_timestamp() < deadline) loop
                    for i in 1 .. cardinality(names) loop
                        perform set_config(names[i], settings[i], true);
                    end loop;
                    update redolab.%I set a = a + 1;
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
            $body$ $loop$, name, name);
    end loop;
end
$make$;
