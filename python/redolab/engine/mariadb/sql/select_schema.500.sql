-- What the database `redolab` is: whether there is one, how much is in it, what its lists say, which of its lists
-- are plain tables without triggers and how many are not, and who else defined something in it.
SELECT (SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'redolab') AS `databases`,
       (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'redolab')
         + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'redolab')
         + (SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'redolab') AS contents,
       GROUP_CONCAT(DISTINCT IF(l.plain, l.comment, NULL) SEPARATOR '\n') AS comments,
       GROUP_CONCAT(IF(l.plain, l.name, NULL)) AS lists,
       COUNT(IF(l.plain, NULL, l.name)) AS odd_lists,
       (SELECT MIN(DEFINER)
          FROM (SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'redolab'
                UNION ALL SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'redolab'
                UNION ALL SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'redolab'
                UNION ALL SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'redolab') d
         WHERE DEFINER <> CURRENT_USER()) AS definer
  FROM (SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment,
               COALESCE(TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB', FALSE)
                 AND NOT EXISTS (SELECT 1 FROM information_schema.TRIGGERS g
                                  WHERE g.EVENT_OBJECT_SCHEMA = 'redolab' AND g.EVENT_OBJECT_TABLE = t.TABLE_NAME)
                 AS plain
          FROM information_schema.TABLES t
         WHERE TABLE_SCHEMA = 'redolab' AND TABLE_NAME IN ('parameter_journal', 'teardown', 'session')) l
