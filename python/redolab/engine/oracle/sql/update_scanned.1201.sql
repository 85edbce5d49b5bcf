-- Makes one more version of each row of a part of the table; the update is not committed.
update redolab_scanned
set value = value + 1
where id < :touched
