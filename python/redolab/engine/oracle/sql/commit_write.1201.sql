-- A commit of a client's, in the mode of the setting: one round trip more.
commit write {mode}
