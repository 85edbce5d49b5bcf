-- Updates a row of the session's own key range from a client: one round trip.
update redolab_account
set value = value + 1
where id = :id
