"""Oracle Database: a server of somebody's, by its URL."""
