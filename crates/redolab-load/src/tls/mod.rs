//! TLS as libpq has it: whom to believe, by which name, and how to introduce oneself.

mod binding;
mod names;
mod roots;
mod verifier;
mod words;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use crate::guarded::{Guarded, Methods, Refusal};
use roots::Trusted;
use verifier::Verifier;
pub(crate) use words::handshake_words;

/// The protocol's name in the handshake.
const PROTOCOL: &[u8] = b"postgresql";

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
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        // Every connection proves anew who the server is; PostgreSQL resumes no session anyway.
        config.resumption = Resumption::disabled();
        let connector = TlsConnector::from(Arc::new(config));
        Ok(Self { connector, name: name(&options.host), direct: options.direct })
    }

    /// For one connection, on which these ways of authentication are allowed.
    pub(crate) fn handshake(&self, allowed: Methods) -> Handshake {
        Handshake { tls: self.clone(), allowed }
    }
}

/// Only a host's name is told in the handshake, never an address. What can be neither is not told either; whom the
/// certificate must be for is the verifier's business.
fn name(host: &str) -> ServerName<'static> {
    ServerName::try_from(host.to_owned())
        .unwrap_or_else(|_| ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()))
}

fn identity(certificate: &Path, key: &Path) -> Result<Arc<dyn ResolvesClientCert>, String> {
    let chain = certificates(certificate)?;
    if chain.is_empty() {
        return Err(format!(
            "no certificate is in the client certificate's file {}",
            certificate.display()
        ));
    }
    let bytes = read(key)?;
    if is_encrypted(&bytes) {
        return Err(format!(
            "the client key {} is encrypted, and Redolab's load from a client cannot ask for its password",
            key.display()
        ));
    }
    let unreadable =
        || format!("the client key {} is in no form that Redolab can read", key.display());
    let key = PrivateKeyDer::from_pem_slice(&bytes)
        .or_else(|_| PrivateKeyDer::try_from(bytes).map_err(|_| ()))
        .map_err(|()| unreadable())?;
    let key = ring::sign::any_supported_type(&key).map_err(|_| unreadable())?;
    // Not checked against the certificate, which libpq has done, and which versions before 3 do not pass here.
    Ok(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key))))
}

/// Both forms that OpenSSL writes.
fn is_encrypted(key: &[u8]) -> bool {
    let text = String::from_utf8_lossy(key);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_slice_iter(&read(file)?)
        .collect::<Result<_, _>>()
        .map_err(|why| format!("{} cannot be read as certificates ({why})", file.display()))
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|why| format!("{} cannot be read ({why})", file.display()))
}

/// One connection's handshake to come.
pub(crate) struct Handshake {
    tls: Tls,
    allowed: Methods,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    type Stream = Guarded<tokio_rustls::client::TlsStream<S>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Stream>>>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let Tls { connector, name, direct } = self.tls;
            let stream = connector.connect(name, stream).await?;
            // Without it another service, which speaks another protocol, could be meant.
            if direct && stream.get_ref().1.alpn_protocol() != Some(PROTOCOL) {
                return Err(io::Error::other(Refusal(
                    "the server does not speak PostgreSQL's protocol over a direct TLS connection"
                        .to_owned(),
                )));
            }
            Ok(Guarded::new(stream, self.allowed))
        })
    }
}

impl<S> TlsStream for Guarded<tokio_rustls::client::TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    fn channel_binding(&self) -> ChannelBinding {
        let leaf = self.stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        leaf.and_then(|leaf| binding::end_point(leaf))
            .map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_encrypted_key_are_known() {
        assert!(is_encrypted(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        assert!(is_encrypted(b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"));
        assert!(!is_encrypted(b"-----BEGIN PRIVATE KEY-----\n"));
        assert!(!is_encrypted(&[0x30, 0x82, 0xff]));
    }

    #[test]
    fn an_address_or_a_strange_name_is_not_told() {
        assert!(matches!(name("db.example"), ServerName::DnsName(_)));
        for host in ["127.0.0.1", "::1", "a b", ""] {
            assert!(matches!(name(host), ServerName::IpAddress(_)), "{host}");
        }
    }
}
