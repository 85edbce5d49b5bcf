//! How connections are encrypted, as the user asks for it, and the encryption of each.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::identity::identity;
use super::roots::Trusted;
use super::verifier::Verifier;

/// How connections are encrypted, in the words of libpq's parameters.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// The server's name, as the user gave it.
    pub host: String,
    /// Whose signature on the server's certificate is believed.
    pub roots: Roots,
    /// Whether the certificate must be for `host`.
    pub check_host: bool,
    /// The client's certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The versions of TLS that may be spoken.
    pub versions: Versions,
    /// The protocol's name, which the handshake tells where it has one.
    pub protocol: Option<&'static [u8]>,
    /// Whether the handshake begins without asking for it (`sslnegotiation=direct`).
    pub direct: bool,
    /// Whether the handshake tells `host`, which is then readable on the way.
    pub sni: bool,
}

/// Whose signature on the server's certificate is believed.
#[derive(Clone, Debug)]
pub enum Roots {
    /// Anybody's: the certificate is not checked.
    Anybody,
    /// Those of the operating system.
    System,
    /// Those in a file.
    File(PathBuf),
}

/// The versions of TLS that may be spoken.
#[derive(Clone, Copy, Debug)]
pub enum Versions {
    /// 1.2 and 1.3.
    Both,
    /// 1.2 alone.
    Only12,
    /// 1.3 alone.
    Only13,
}

/// How connections are encrypted.
#[derive(Clone)]
pub struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
    pub(crate) direct: bool,
}

impl Tls {
    /// Read the certificates and the key.
    ///
    /// # Errors
    ///
    /// What is wrong with which file, as a sentence without a full stop.
    pub fn new(options: &TlsOptions) -> Result<Self, String> {
        let provider = Arc::new(ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let trusted = match &options.roots {
            Roots::Anybody => None,
            Roots::System => Some(Trusted::system()?),
            Roots::File(file) => Some(Trusted::file(file)?),
        };
        let host = options.check_host.then(|| options.host.clone());
        let verifier = Verifier::new(trusted, host, algorithms);
        let versions: &[&SupportedProtocolVersion] = match options.versions {
            Versions::Both => &[&TLS13, &TLS12],
            Versions::Only12 => &[&TLS12],
            Versions::Only13 => &[&TLS13],
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|why| why.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &options.identity {
            Some((certificate, key)) => {
                builder.with_client_cert_resolver(identity(certificate, key)?)
            }
            None => builder.with_no_client_auth(),
        };
        config.enable_sni = options.sni;
        config.alpn_protocols = options.protocol.map(<[u8]>::to_vec).into_iter().collect();
        // Every connection proves anew who the server is; PostgreSQL resumes no session anyway.
        config.resumption = Resumption::disabled();
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self { connector, name: name(&options.host), direct: options.direct })
    }

    /// Encrypt one connection.
    pub(crate) async fn encrypt<S>(&self, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.connector.connect(self.name.clone(), stream).await
    }
}

/// Only a host's name is told in the handshake, never an address. What can be neither is not told either; whom the
/// certificate must be for is the verifier's business.
fn name(host: &str) -> ServerName<'static> {
    ServerName::try_from(host.to_owned())
        .unwrap_or_else(|_| ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_strange_name_is_not_told() {
        assert!(matches!(name("db.example"), ServerName::DnsName(_)));
        for host in ["127.0.0.1", "::1", "a b", ""] {
            assert!(matches!(name(host), ServerName::IpAddress(_)), "{host}");
        }
    }
}
