//! What a server process is, from the title it shows in `/proc/PID/cmdline`.

/// Titles of processes that serve no client, as the server writes them. Some go on after the
/// name ("io worker 3", "startup recovering 0000..."), so the longer of two names that begin
/// alike comes first.
const KINDS: &[&str] = &[
    "archiver",
    "autovacuum launcher",
    "autovacuum worker",
    "background writer",
    "checkpointer",
    "io worker",
    "logger",
    "logical replication apply worker",
    "logical replication launcher",
    "logical replication parallel apply worker",
    "logical replication sequencesync worker",
    "logical replication tablesync worker",
    "logical replication worker",
    "parallel worker",
    "slotsync worker",
    "startup",
    "stats collector",
    "walreceiver",
    "walsummarizer",
    "walwriter",
];

/// What a title says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    /// The kind of process.
    pub kind: String,
    /// A client backend's user.
    pub user: Option<String>,
    /// A client backend's database.
    pub database: Option<String>,
}

impl From<&str> for Title {
    fn from(kind: &str) -> Self {
        Self { kind: kind.to_owned(), ..Self::default() }
    }
}

/// What the process is that shows `title`.
///
/// A client backend's title begins with the names of the user and the database, which can be
/// anything; what gives it away is the client's address further on. A `cluster_name`, which can
/// be anything too, may stand before the rest. A title known to neither rule is returned as it
/// is: extensions name their own workers. User and database stand in the title without marks
/// between them: where they are not just two words, nobody can tell which is which.
pub fn from_title(title: &str) -> Title {
    // The title overwrites the command line and is padded with zero bytes.
    let title = title.split('\0').next().unwrap_or_default().trim();
    if title.is_empty() {
        return "ended".into();
    }
    let Some(body) = title.strip_prefix("postgres: ") else {
        // The postmaster's own command line, which a new child shows for a moment.
        return "starting".into();
    };
    // Every place where the process's own part may begin: a cluster_name may hold ": " itself.
    let after_cluster_name = body.match_indices(": ").map(|(at, colon)| &body[at + colon.len()..]);
    let candidates: Vec<&str> = std::iter::once(body).chain(after_cluster_name).collect();

    if body.split(' ').skip(1).any(is_client_address) {
        if candidates.iter().any(|body| begins_with(body, "walsender")) {
            return "walsender".into();
        }
        let mut words = candidates.last().map_or(body, |last| last).split(' ');
        let (user, database) = match (words.next(), words.next(), words.next()) {
            (Some(user), Some(database), Some(third)) if is_client_address(third) => {
                (Some(user.to_owned()), Some(database.to_owned()))
            }
            _ => (None, None),
        };
        return Title { kind: "client backend".to_owned(), user, database };
    }
    for body in &candidates {
        if let Some(kind) = KINDS.iter().find(|kind| begins_with(body, kind)) {
            return (*kind).into();
        }
    }
    (*candidates.last().unwrap_or(&body)).into()
}

/// Whether a process of this kind serves a client; a parallel worker does, for its leader.
pub fn is_session(kind: &str) -> bool {
    matches!(kind, "client backend" | "parallel worker")
}

/// Whether `title` is `kind`, alone or followed by more words.
fn begins_with(title: &str, kind: &str) -> bool {
    title.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Whether `word` is how the server shows a client's address: `[local]` or `host(port)`.
fn is_client_address(word: &str) -> bool {
    let port = |word: &str| {
        let (host, port) = word.strip_suffix(')')?.rsplit_once('(')?;
        (!host.is_empty() && port.parse::<u16>().is_ok()).then_some(())
    };
    word == "[local]" || port(word).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{from_title, is_session};

    #[test]
    fn background_processes_are_named_as_the_server_names_them() {
        for (title, kind) in [
            ("postgres: walwriter ", "walwriter"),
            ("postgres: checkpointer ", "checkpointer"),
            ("postgres: checkpointer performing shutdown checkpoint", "checkpointer"),
            ("postgres: background writer ", "background writer"),
            ("postgres: io worker 2", "io worker"),
            ("postgres: autovacuum launcher ", "autovacuum launcher"),
            ("postgres: autovacuum worker orders", "autovacuum worker"),
            ("postgres: logical replication launcher ", "logical replication launcher"),
            (
                "postgres: logical replication apply worker for subscription 16394",
                "logical replication apply worker",
            ),
            ("postgres: parallel worker for PID 4242 ", "parallel worker"),
            ("postgres: archiver last was 000000010000000000000003", "archiver"),
            ("postgres: startup recovering 000000010000000000000003", "startup"),
            ("postgres: pg_cron launcher ", "pg_cron launcher"),
        ] {
            assert_eq!(from_title(title).kind, kind, "{title}");
        }
    }

    #[test]
    fn a_client_is_known_by_its_address_whatever_its_names() {
        for title in [
            "postgres: app orders [local] CALL",
            "postgres: app orders 10.0.0.7(51234) idle in transaction",
            "postgres: app orders ::1(51234) COMMIT waiting",
            "postgres: walwriter orders [local] idle",
            "postgres: two words my db [local] INSERT",
            "postgres: a: checkpointer [local] INSERT",
            "postgres: 18/main: app orders [local] idle",
        ] {
            assert_eq!(from_title(title).kind, "client backend", "{title}");
        }
        assert_eq!(
            from_title("postgres: walsender rep 10.0.0.8(4000) streaming 0/3").kind,
            "walsender"
        );
        assert_eq!(from_title("postgres: east: walsender rep [local] idle").kind, "walsender");
    }

    #[test]
    fn user_and_database_are_two_words_before_the_address() {
        for (title, names) in [
            ("postgres: app orders [local] CALL", Some(("app", "orders"))),
            ("postgres: 18/main: app orders 10.0.0.7(51234) idle", Some(("app", "orders"))),
            ("postgres: two words my db [local] INSERT", None),
            ("postgres: app [local] idle", None),
            ("postgres: walsender rep 10.0.0.8(4000) streaming 0/3", None),
            ("postgres: walwriter ", None),
        ] {
            let found = from_title(title);
            assert_eq!(found.user.as_deref().zip(found.database.as_deref()), names, "{title}");
        }
    }

    #[test]
    fn sessions_serve_clients() {
        assert!(is_session("client backend") && is_session("parallel worker"));
        assert!(!is_session("walwriter") && !is_session("walsender"));
    }

    #[test]
    fn a_cluster_name_stands_before_the_kind() {
        assert_eq!(from_title("postgres: 15/main: walwriter ").kind, "walwriter");
        assert_eq!(from_title("postgres: a: b: io worker 0").kind, "io worker");
        assert_eq!(from_title("postgres: east: pg_cron launcher").kind, "pg_cron launcher");
    }

    #[test]
    fn padding_is_no_part_of_a_title() {
        assert_eq!(from_title("postgres: walwriter \0\0\0\0").kind, "walwriter");
    }

    #[test]
    fn a_process_without_a_title_of_its_own_is_starting_or_ended() {
        assert_eq!(from_title("/usr/lib/postgresql/bin/postgres\0-D\0data\0").kind, "starting");
        assert_eq!(from_title("").kind, "ended");
    }

    proptest! {
        #[test]
        fn any_title_has_a_kind(title in ".{0,120}", name in "[a-z_]{1,20}", user in "[a-z0-9_]{1,20}") {
            prop_assert!(!from_title(&title).kind.is_empty() || title.starts_with("postgres: "));
            let found = from_title(&format!("postgres: {user} {name} 10.0.0.1(5000) {title}"));
            prop_assert!(found.kind == "client backend" || found.kind == "walsender");
        }
    }
}
