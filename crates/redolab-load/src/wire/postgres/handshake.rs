//! The TLS handshake of a PostgreSQL connection, and its channel binding.

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

use super::guarded::{Guarded, Methods};
use crate::wire::refusal::Refusal;
use crate::wire::tls::{Tls, end_point};

/// The protocol's name in the handshake of TLS.
pub const ALPN: &[u8] = b"postgresql";

/// One connection's handshake to come.
pub(super) struct Handshake {
    pub(super) tls: Tls,
    /// The ways of authentication that are allowed on it.
    pub(super) allowed: Methods,
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
            let stream = self.tls.encrypt(stream).await?;
            // Without it another service, which speaks another protocol, could be meant.
            if self.tls.direct && stream.get_ref().1.alpn_protocol() != Some(ALPN) {
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
        leaf.and_then(|leaf| end_point(leaf))
            .map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}
