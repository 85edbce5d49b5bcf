//! Where a server is, who connects, and how.

use std::path::PathBuf;
use std::time::Duration;

use crate::wire::tls::{Roots, Tls, TlsOptions, Versions};

/// Where a server is, and as whom to connect.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// A name or an address.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// The socket to connect by instead.
    pub unix_socket: Option<&'a str>,
    /// The user as whom whoever listens at that socket must run.
    pub peer_uid: Option<u32>,
    /// The user.
    pub user: &'a str,
    /// Its password.
    pub password: Option<&'a str>,
    /// The database; none need be there.
    pub database: Option<&'a str>,
}

/// How a connection is encrypted, as MySQL's own programs name it. `preferred` is not here: the control connection
/// has found out by then, and the load never is less protected than it.
#[derive(Clone, Debug, PartialEq)]
pub enum Encryption {
    /// Not at all.
    Disabled,
    /// Always, whatever certificate the server has.
    Required,
    /// Always, and the certificate is vouched for by this file, or by the operating system's root certificates.
    VerifyCa(Option<PathBuf>),
    /// As well, and the certificate is for the host that is connected to.
    VerifyIdentity(Option<PathBuf>),
}

/// A server, and as whom to connect. Its `Debug` does not show the password.
#[derive(Clone)]
pub struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) unix_socket: Option<PathBuf>,
    pub(super) peer_uid: Option<u32>,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) database: Option<String>,
    /// There is no connection without it.
    pub(super) tls: Option<Tls>,
    pub(super) limit: Duration,
}

impl Target {
    /// Have every connection from now on log in with this password.
    pub(crate) fn set_password(&mut self, password: &str) {
        password.clone_into(&mut self.password);
    }

    /// Take where the server is, who connects and how, and how long that may take.
    ///
    /// # Errors
    ///
    /// What is wrong with the file of root certificates, as a sentence without a full stop.
    pub fn new(login: &Login<'_>, encryption: Encryption, limit: Duration) -> Result<Self, String> {
        let check_host = matches!(encryption, Encryption::VerifyIdentity(_));
        let tls = match encryption {
            Encryption::Disabled => None,
            Encryption::Required => Some(Roots::Anybody),
            Encryption::VerifyCa(None) | Encryption::VerifyIdentity(None) => Some(Roots::System),
            Encryption::VerifyCa(Some(file)) | Encryption::VerifyIdentity(Some(file)) => {
                Some(Roots::File(file))
            }
        };
        let host = login.host.to_owned();
        let tls = tls.map(|roots| {
            Tls::new(&TlsOptions {
                host: host.clone(),
                roots,
                check_host,
                identity: None,
                versions: Versions::Both,
                protocol: None,
                direct: false,
                sni: true,
            })
        });
        Ok(Self {
            host,
            port: login.port,
            unix_socket: login.unix_socket.map(PathBuf::from),
            peer_uid: login.peer_uid,
            user: login.user.to_owned(),
            password: login.password.unwrap_or_default().to_owned(),
            database: login.database.map(str::to_owned),
            tls: tls.transpose()?,
            limit,
        })
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Target").field("host", &self.host).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Login<'_> = Login {
        host: "localhost",
        port: 3306,
        unix_socket: None,
        peer_uid: None,
        user: "me",
        password: Some("s3cret"),
        database: None,
    };

    #[test]
    fn a_target_does_not_show_its_password() {
        let target = Target::new(&LOGIN, Encryption::Required, Duration::from_secs(1)).unwrap();
        let shown = format!("{target:?}");
        assert!(shown.contains("localhost") && !shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn a_file_of_roots_must_be_there_where_it_is_relied_on() {
        let made = |encryption| Target::new(&LOGIN, encryption, Duration::from_secs(1));
        let file = Some(PathBuf::from("/nowhere/ca.pem"));
        let why = made(Encryption::VerifyCa(file)).unwrap_err();
        assert!(why.contains("/nowhere/ca.pem"), "{why}");
        assert!(made(Encryption::Disabled).unwrap().tls.is_none());
        assert!(made(Encryption::Required).unwrap().tls.is_some());
    }
}
