-- Whether this server takes its data from another one: a row for each source.
SHOW SLAVE STATUS
