-- What the database `redolab` is: whether there is one, how much is in it, what its journal says, how many of its
-- lists are plain tables without triggers, and who else defined something in it.
SELECT (SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'redolab') AS `databases`,
       (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'redolab')
         + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'redolab')
         + (SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'redolab') AS contents,
       (SELECT TABLE_COMMENT FROM information_schema.TABLES
         WHERE TABLE_SCHEMA = 'redolab' AND TABLE_NAME = 'parameter_journal') AS comment,
       (SELECT COUNT(*) FROM information_schema.TABLES t
         WHERE TABLE_SCHEMA = 'redolab' AND TABLE_NAME IN ('parameter_journal', 'teardown', 'session')
           AND TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB'
           AND NOT EXISTS (SELECT 1 FROM information_schema.TRIGGERS g
                            WHERE g.EVENT_OBJECT_SCHEMA = 'redolab' AND g.EVENT_OBJECT_TABLE = t.TABLE_NAME)) AS lists,
       (SELECT MIN(DEFINER)
          FROM (SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'redolab'
                UNION ALL SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'redolab'
                UNION ALL SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'redolab'
                UNION ALL SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'redolab') d
         WHERE DEFINER <> CURRENT_USER()) AS definer
