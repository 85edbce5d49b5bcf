-- An update of a client's, of a row in its own key range: one round trip.
update redolab_account
set value = value + 1
where id = :id
