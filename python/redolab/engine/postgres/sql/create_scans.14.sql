-- One table without an index, and the loop of whole scans. The unit of work is a query.
create table redolab.scanned (
    id int not null,
    value int not null
) with (autovacuum_enabled = false);

-- Whole scans until `deadline` on the server's own clock, or until there were `quota`; the other of the
-- two is null. Every value is 1 but where another session has updated it without committing, so any other
-- sum than `expected` has read what it must not see. One process scans, without compiling the query.
create procedure redolab.scan_loop(
    quota bigint, deadline timestamptz, expected bigint, versions bigint,
    inout units bigint default 0, inout commits bigint default 0, inout rows bigint default 0,
    inout failed bigint default 0, inout elapsed_s float8 default 0,
    inout first_s float8 default null, inout row_versions bigint default 0)
language plpgsql
set max_parallel_workers_per_gather = 0
set jit = off
as $$
declare
    started timestamptz := clock_timestamp();
    total bigint;
begin
    while coalesce(units < quota, clock_timestamp() < deadline) loop
        select sum(value) into total from redolab.scanned;
        units := units + 1;
        if units = 1 then
            first_s := extract(epoch from clock_timestamp() - started);
        end if;
        if total is distinct from expected then
            failed := failed + 1;
        end if;
    end loop;
    row_versions := units * versions;
    elapsed_s := extract(epoch from clock_timestamp() - started);
end
$$;
