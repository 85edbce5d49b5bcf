-- Which thread of the operating system serves each connection; 0 for one that has none now.
SELECT ID AS connection, TID AS thread FROM information_schema.PROCESSLIST
