from __future__ import annotations


class Hold:
    journal = None

    def __init__(self, connector, own):
        self._connector, self._own = connector, own
        self.connection = connector.connect("redolab control")
        self.parameters = None
        with self.connection.cursor() as c:
            c.execute(
                "select version() as version_text, @@log_bin as binlog, @@innodb_flush_method as innodb_flush_method"
            )
            r = c.fetchone()
        import re

        fl = "mariadb" if "mariadb" in r["version_text"].lower() else "mysql"
        a, b = re.findall(r"\d+", r["version_text"])[:2]
        self.server = {
            **r,
            "binlog": bool(r["binlog"]),
            "flavour": fl,
            "version": int(a) * 100 + int(b),
            "timed_files": fl == "mysql",
            "place": connector.place,
        }

    def conditions(self):
        return []

    def check_rights(self, known):
        pass

    def make_schema(self):
        with self.connection.cursor() as c:
            c.execute("create database redolab")

    def ensure(self, limit_s=None):
        try:
            self.connection.ping(reconnect=False)
            return False
        except Exception:
            pass
        self._own.revive()
        self.connection = self._connector.connect("redolab control")
        self.parameters.control = self.connection
        return True

    def replace(self, c):
        self.connection.close()
        self.connection = c
        self.parameters.control = c

    def guard_pids(self):
        return []

    def leave(self, hurry):
        pass

    def leave_to_guard(self):
        pass

    def close(self):
        if self.connection.open:
            self.connection.close()
        if self._own:
            self._own.stop()
