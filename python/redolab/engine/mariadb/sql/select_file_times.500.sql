-- Times in picoseconds. MISC holds flushes, and for data files also opens and closes.
SELECT EVENT_NAME AS name, COUNT_READ AS reads_n, SUM_TIMER_READ AS read_ps, COUNT_WRITE AS writes_n,
       SUM_TIMER_WRITE AS write_ps, COUNT_MISC AS misc_n, SUM_TIMER_MISC AS misc_ps
FROM performance_schema.file_summary_by_event_name
WHERE COUNT_STAR > 0
