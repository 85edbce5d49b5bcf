-- Which thread of the operating system serves each connection.
SELECT ID AS connection, TID AS thread FROM information_schema.PROCESSLIST WHERE TID <> 0
