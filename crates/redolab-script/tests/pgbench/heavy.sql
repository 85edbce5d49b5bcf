\set n random(1, 10)
SELECT 'heavy', :n, :client_id;
