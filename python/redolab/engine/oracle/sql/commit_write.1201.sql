-- Commits from a client, in the mode of the setting: one more round trip.
commit write {mode}
