/* kept */ BEGIN; -- not dropped
-- dropped
SELECT 'first' AS one, 2 AS two \gset
\set kind random(1, 4)
\if :kind = 1
SELECT 1 AS kind_one;
\elif :kind = 2
  \if :two > 1
    SELECT 'inner; not ended' ;
  \else
    SELECT 'never';
  \endif
\elif :kind = 3
SELECT 3
   AS three;
\else
SELECT :kind, ':one';
\endif
SELECT 5 AS x \; SELECT 6 AS y \gset p_
\sleep 1 ms
\sleep 10us
\set nap 20
\sleep :nap us
SELECT ':x', :p_y;
SELECT 7 AS s, 8 AS t \; SELECT 9 AS u WHERE false \aset
SELECT :s, :t, ':u';
CREATE OR REPLACE FUNCTION pg_temp.three() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 3 END; END;
SELECT $tag$ ; \set x 1 $tag$, "a;b" FROM (SELECT 1 AS "a;b") AS s;
END;
