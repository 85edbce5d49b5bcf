-- Who else may put a view where Redolab's tables will be, and is no administrator, whom everybody must trust.
SELECT DISTINCT g.grantee
  FROM (SELECT grantee FROM information_schema.schema_privileges
         WHERE privilege_type = 'CREATE VIEW' AND 'redolab' LIKE table_schema
        UNION SELECT grantee FROM information_schema.table_privileges
         WHERE privilege_type = 'CREATE VIEW' AND table_schema = 'redolab'
        UNION SELECT grantee FROM information_schema.user_privileges
         WHERE privilege_type = 'CREATE VIEW') g
 WHERE g.grantee <> %s
   AND g.grantee NOT IN (SELECT grantee FROM information_schema.user_privileges
                          WHERE privilege_type IN ('SUPER', 'CREATE USER'))
 ORDER BY 1
