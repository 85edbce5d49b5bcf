-- Whether the wait of the moment is kept, and whether file operations are timed.
SELECT (SELECT COUNT(*) FROM performance_schema.setup_consumers
        WHERE NAME IN ('global_instrumentation', 'thread_instrumentation', 'events_waits_current')
          AND ENABLED = 'YES') = 3 AS waits_current,
       (SELECT COUNT(*) FROM performance_schema.setup_consumers
        WHERE NAME = 'global_instrumentation' AND ENABLED = 'YES') = 1 AS counted
