-- Inserts a row from a client: one round trip.
insert into redolab_item (session_no, id, padding)
values (:session_no, :id, :padding)
