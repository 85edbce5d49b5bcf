//! Sessions that work over the wire, as Python sees them.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyConnectionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use redolab_load::{
    Amount, Argument, Arrivals, ChannelBinding, Encryption, How, Job, Login, Methods, MysqlLogin,
    MysqlTarget, POSTGRES_ALPN, PostgresTarget, Protection, Responses, Roots, Sessions, Target,
    Tls, TlsOptions, Versions,
};

/// What one session did.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct SessionWork {
    /// Transactions acknowledged.
    commits: u64,
    /// Rows in them; those of the user's own text as the server counts them.
    rows: u64,
    /// Statements that changed no row.
    failed: u64,
    /// From the first statement to the last acknowledgement and the pause after it, in seconds.
    elapsed_s: f64,
    /// Why the session gave up.
    trouble: Option<String>,
}

/// What became of arrivals. Histograms as in `ClientWork`.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct ClientResponses {
    /// From the moment a transaction was asked for to its acknowledgement.
    times: Py<PyTuple>,
    /// Their sum in seconds.
    total_s: f64,
    /// From that moment to the transaction's beginning, of those for which a session was free.
    lag: Py<PyTuple>,
    /// Those that found no session free, and began when one was.
    waited: u64,
    /// Those that were never begun.
    unserved: u64,
}

/// What all sessions did.
#[pyclass(frozen, get_all, module = "redolab._core")]
pub struct ClientWork {
    /// In the order of the sessions.
    sessions: Py<PyTuple>,
    /// Commit times: upper bound of a bucket in nanoseconds, and its commits; occupied buckets alone.
    latency: Py<PyTuple>,
    /// What became of arrivals; None where the sessions looped.
    responses: Option<Py<ClientResponses>>,
    /// CPU of the threads that drive the sessions, in nanoseconds.
    cpu_ns: u64,
    /// Whether the sessions were stopped before their work was done.
    interrupted: bool,
}

/// How a client's connections are encrypted.
#[pyclass(frozen, module = "redolab._core")]
pub struct ClientTls(Tls);

#[pymethods]
impl ClientTls {
    /// Read the files. `roots` is a file, `system`, or None where any certificate will do; `identity` the files
    /// of the client's certificate and key; `versions` 1.2 and 1.3, or one of them.
    #[new]
    #[pyo3(signature = (host, roots, check_host, identity, versions, direct, sni))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
    fn new(
        host: String,
        roots: Option<PathBuf>,
        check_host: bool,
        identity: Option<(PathBuf, PathBuf)>,
        versions: Vec<String>,
        direct: bool,
        sni: bool,
    ) -> PyResult<Self> {
        let roots = match roots {
            None => Roots::Anybody,
            Some(file) if file.as_os_str() == "system" => Roots::System,
            Some(file) => Roots::File(file),
        };
        let versions = match versions.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["1.2", "1.3"] => Versions::Both,
            ["1.2"] => Versions::Only12,
            ["1.3"] => Versions::Only13,
            _ => return Err(PyValueError::new_err("no such versions of TLS")),
        };
        let protocol = Some(POSTGRES_ALPN);
        let options =
            TlsOptions { host, roots, check_host, identity, versions, protocol, direct, sni };
        Tls::new(&options).map(Self).map_err(PyValueError::new_err)
    }
}

/// One argument of a job's statement.
#[pyclass(frozen, eq, module = "redolab._core")]
#[derive(Clone, PartialEq)]
pub struct ClientArgument(Argument);

#[pymethods]
impl ClientArgument {
    /// The session's number, from 0.
    #[staticmethod]
    fn session() -> Self {
        Self(Argument::Session)
    }

    /// How many rows the session has come to, from 1.
    #[staticmethod]
    fn row() -> Self {
        Self(Argument::Row)
    }

    /// The same text each time.
    #[staticmethod]
    fn text(text: String) -> Self {
        Self(Argument::Text(text))
    }

    /// The session's number times `per_session`, and a random number below that.
    #[staticmethod]
    fn key(per_session: u64) -> Self {
        Self(Argument::Key { per_session })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Connections to one server that commit transactions; none at first.
#[pyclass(frozen, module = "redolab._core")]
pub struct ClientSessions {
    running: Mutex<Option<Sessions>>,
}

#[pymethods]
impl ClientSessions {
    /// To a PostgreSQL.
    #[new]
    #[pyo3(signature = (
        host, port, user, password, database, options, *,
        tls, channel_binding, allowed, peer_uid, connect_timeout_s
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
    fn new(
        host: &str,
        port: u16,
        user: &str,
        password: Option<&str>,
        database: &str,
        options: &str,
        tls: Option<&ClientTls>,
        channel_binding: &str,
        allowed: Vec<String>,
        peer_uid: Option<u32>,
        connect_timeout_s: f64,
    ) -> PyResult<Self> {
        let login = Login { host, port, user, password, database, options };
        let may = |method: &str| allowed.iter().any(|one| one == method);
        let protection = Protection {
            tls: tls.map(|tls| tls.0.clone()),
            channel_binding: match channel_binding {
                "disable" => ChannelBinding::Disable,
                "prefer" => ChannelBinding::Prefer,
                "require" => ChannelBinding::Require,
                _ => return Err(PyValueError::new_err("no such channel_binding")),
            },
            allowed: Methods {
                none: may("none"),
                password: may("password"),
                md5: may("md5"),
                scram: may("scram-sha-256"),
            },
            peer_uid,
            limit: duration(connect_timeout_s)?,
        };
        Self::start(&Target::Postgres(PostgresTarget::new(&login, protection)))
    }

    /// To a MariaDB or MySQL, by `unix_socket` where it is given, behind which a server must run as `peer_uid`. `tls`
    /// is the encryption as MySQL's own programs name it, `ca_file` the root certificates where they count; without
    /// it the operating system's do.
    #[staticmethod]
    #[pyo3(signature = (
        host, port, unix_socket, user, password, database, *, tls, ca_file, peer_uid, connect_timeout_s
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn mysql(
        host: &str,
        port: u16,
        unix_socket: Option<&str>,
        user: &str,
        password: Option<&str>,
        database: Option<&str>,
        tls: &str,
        ca_file: Option<PathBuf>,
        peer_uid: Option<u32>,
        connect_timeout_s: f64,
    ) -> PyResult<Self> {
        let login = MysqlLogin { host, port, unix_socket, peer_uid, user, password, database };
        let encryption = match tls {
            "disabled" => Encryption::Disabled,
            "required" => Encryption::Required,
            "verify-ca" => Encryption::VerifyCa(ca_file),
            "verify-identity" => Encryption::VerifyIdentity(ca_file),
            _ => return Err(PyValueError::new_err("no such encryption")),
        };
        let target = MysqlTarget::new(&login, encryption, duration(connect_timeout_s)?);
        Self::start(&Target::Mysql(target.map_err(PyValueError::new_err)?))
    }

    /// Open every further session, and lost ones anew, with this password.
    fn set_password(&self, py: Python<'_>, password: &str) -> PyResult<()> {
        self.with(py, |sessions| sessions.set_password(password))
    }

    /// Have `count` sessions: close the last ones, open more, and open lost ones anew.
    fn resize(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.with(py, |sessions| sessions.resize(count))?.map_err(PyConnectionError::new_err)
    }

    /// What serves the sessions, in their order: server processes or, on MariaDB and MySQL, connections' numbers.
    fn pids(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.with(py, |sessions| sessions.pids().to_vec())
    }

    /// Execute a statement in every session; returns the text in the first column of each one's row.
    #[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
    fn ask(
        &self,
        py: Python<'_>,
        statement: &str,
        arguments: Vec<String>,
    ) -> PyResult<Vec<Option<String>>> {
        self.with(py, |sessions| sessions.ask(statement, &arguments))?
            .map_err(PyConnectionError::new_err)
    }

    /// Let the sessions execute `statement` for `rows` rows in all or, without them, for `seconds`: as fast as they
    /// can, with `pause_s` after each commit, or as transactions at random moments, so many per second. `text` says
    /// that the statement is several, and each round of it a transaction. `seed` is that of moments and of keys.
    #[pyo3(signature = (
        statement, arguments, *, text, rows_per_commit, parameters, seconds, rows, pause_s,
        arrival_rate_per_s, seed, afterwards
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    #[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
    fn begin(
        &self,
        py: Python<'_>,
        statement: String,
        arguments: Vec<PyRef<'_, ClientArgument>>,
        text: bool,
        rows_per_commit: u32,
        parameters: Vec<(String, String)>,
        seconds: f64,
        rows: Option<u64>,
        pause_s: f64,
        arrival_rate_per_s: Option<f64>,
        seed: u64,
        afterwards: Vec<String>,
    ) -> PyResult<()> {
        let job = Job {
            statement,
            arguments: arguments.iter().map(|argument| argument.0.clone()).collect(),
            seed,
            how: if text { How::Text } else { How::Prepared },
            rows_per_commit,
            parameters,
            amount: match rows {
                Some(rows) => Amount::Rows(rows),
                None => Amount::For(duration(seconds)?),
            },
            pause: duration(pause_s)?,
            arrivals: arrival_rate_per_s.map(|rate_per_s| Arrivals { rate_per_s, seed }),
            afterwards,
        };
        self.with(py, |sessions| sessions.begin(job))
    }

    /// Wait for the work to be done, at most `seconds`; None while it is not.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<ClientWork>> {
        let limit = duration(seconds)?;
        let done = self.with(py, |sessions| sessions.wait(limit))?;
        done.map(|report| ClientWork::of(py, report)).transpose()
    }

    /// Stop the work at once. A session that is stopped is lost; `resize` opens it anew.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |sessions| sessions.interrupt())
    }

    /// Close every session; nothing can be asked afterwards.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }
}

impl ClientSessions {
    fn start(target: &Target) -> PyResult<Self> {
        Ok(Self { running: Mutex::new(Some(Sessions::start(target)?)) })
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Sessions) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| self.lock().as_mut().map(act))
            .ok_or_else(|| PyValueError::new_err("the sessions are closed"))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Sessions>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientResponses {
    fn of(py: Python<'_>, responses: &Responses) -> PyResult<Self> {
        Ok(Self {
            times: PyTuple::new(py, responses.times.buckets())?.unbind(),
            total_s: responses.total.as_secs_f64(),
            lag: PyTuple::new(py, responses.lag.buckets())?.unbind(),
            waited: responses.waited,
            unserved: responses.unserved,
        })
    }
}

impl ClientWork {
    fn of(py: Python<'_>, report: redolab_load::Report) -> PyResult<Self> {
        let sessions = report.sessions.into_iter().map(|session| {
            Py::new(
                py,
                SessionWork {
                    commits: session.commits,
                    rows: session.rows,
                    failed: session.failed,
                    elapsed_s: session.elapsed.as_secs_f64(),
                    trouble: session.trouble,
                },
            )
        });
        Ok(Self {
            sessions: PyTuple::new(py, sessions.collect::<PyResult<Vec<_>>>()?)?.unbind(),
            latency: PyTuple::new(py, report.latency.buckets())?.unbind(),
            responses: report
                .responses
                .map(|responses| Py::new(py, ClientResponses::of(py, &responses)?))
                .transpose()?,
            cpu_ns: u64::try_from(report.cpu.as_nanos()).unwrap_or(u64::MAX),
            interrupted: report.interrupted,
        })
    }
}

fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|why| PyValueError::new_err(why.to_string()))
}
