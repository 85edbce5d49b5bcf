-- The loop every session runs around the user's own unit of work, redolab.unit(session), until `deadline`
-- on the server's own clock, or over `quota` units; the other of the two is null. One commit per unit.
create procedure redolab.unit_loop(
    number int, quota bigint, deadline timestamptz, names text[], settings text[],
    inout units bigint default 0, inout commits bigint default 0, inout rows bigint default 0,
    inout failed bigint default 0, inout elapsed_s float8 default 0)
language plpgsql as $$
declare
    started timestamptz := clock_timestamp();
begin
    while coalesce(units < quota, clock_timestamp() < deadline) loop
        for i in 1 .. cardinality(names) loop
            perform set_config(names[i], settings[i], true);
        end loop;
        call redolab.unit(number);
        commit;
        units := units + 1;
    end loop;
    commits := units;
    elapsed_s := extract(epoch from clock_timestamp() - started);
end
$$;
