-- A version more of each row of a part; it is not committed.
update redolab_scanned
set value = value + 1
where id < :touched
