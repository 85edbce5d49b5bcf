-- The server's clock and how many transaction ids are used up, in one statement; it takes none itself.
select extract(epoch from clock_timestamp())::float8 as at_s,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint as transactions
