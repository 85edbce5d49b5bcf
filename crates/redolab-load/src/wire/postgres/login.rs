//! Logs in to a PostgreSQL server.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding as Binding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::client::TlsStream;

use super::channel::{Channel, tag};
use super::guarded::{Guarded, Methods};
use super::words::{Refused, STRANGE, no_connection, no_handshake};
use crate::wire::tls::{Tls, end_point};

/// The protocol's name in the handshake of TLS.
pub const ALPN: &[u8] = b"postgresql";

/// Whether both ends make sure that they mean the same certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelBinding {
    /// They do not.
    Disable,
    /// Where both can.
    Prefer,
    /// In any case.
    Require,
}

/// As whom.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: String,
    pub(super) options: String,
}

/// Encrypt `stream`; tells the hash of the server's certificate, to which SCRAM can be bound.
pub(super) async fn encrypt<S>(
    mut stream: S,
    tls: &Tls,
    allowed: Methods,
) -> Result<(Channel, Option<Vec<u8>>), Refused>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    if !tls.direct {
        ask_for_tls(&mut stream).await?;
    }
    let stream = tls.encrypt(stream).await.map_err(|why| no_handshake(&why))?;
    // Without it another service, which speaks another protocol, could be meant.
    if tls.direct && stream.get_ref().1.alpn_protocol() != Some(ALPN) {
        return Err(
            "the server does not speak PostgreSQL's protocol over a direct TLS connection".into()
        );
    }
    let hash = certificate_hash(&stream);
    Ok((Channel::new(Guarded::new(stream, allowed)), hash))
}

async fn ask_for_tls<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> Result<(), Refused> {
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    // Not a byte more than the answer is read: it would be taken for what came encrypted.
    let mut answer = [0];
    let asked = async {
        stream.write_all(&request).await?;
        stream.flush().await?;
        stream.read_exact(&mut answer).await
    };
    asked.await.map_err(|why| no_connection(&why))?;
    if answer == *b"S" { Ok(()) } else { Err("the server does not support TLS".into()) }
}

fn certificate_hash<S>(stream: &TlsStream<S>) -> Option<Vec<u8>> {
    end_point(stream.get_ref().1.peer_certificates()?.first()?)
}

/// Log in, shown as `name` in the server's views.
pub(super) async fn log_in(
    channel: &mut Channel,
    identity: &Identity,
    name: &str,
    wanted: ChannelBinding,
    certificate: Option<Vec<u8>>,
) -> Result<(), Refused> {
    let parameters = [
        ("client_encoding", "UTF8"),
        ("user", &identity.user),
        ("database", &identity.database),
        ("options", &identity.options),
        ("application_name", name),
    ];
    let parameters = parameters.into_iter().filter(|(_, value)| !value.is_empty());
    frontend::startup_message(parameters, channel.begin()?).map_err(|why| why.to_string())?;
    channel.send(1).await?;
    authenticate(channel, identity, wanted, certificate).await?;
    loop {
        match channel.receive().await? {
            tag::KEY => {}
            tag::READY => return Ok(()),
            tag::ERROR => return Err(channel.refused()),
            _ => return Err(STRANGE.into()),
        }
    }
}

async fn authenticate(
    channel: &mut Channel,
    identity: &Identity,
    wanted: ChannelBinding,
    certificate: Option<Vec<u8>>,
) -> Result<(), Refused> {
    let password = || identity.password.as_deref().ok_or_else(|| Refused::from("password missing"));
    match asked_for(channel).await? {
        Message::AuthenticationOk => return unbound(wanted),
        Message::AuthenticationCleartextPassword => {
            unbound(wanted)?;
            answer(channel, password()?.as_bytes()).await?;
        }
        Message::AuthenticationMd5Password(body) => {
            unbound(wanted)?;
            let hash = md5_hash(identity.user.as_bytes(), password()?.as_bytes(), body.salt());
            answer(channel, hash.as_bytes()).await?;
        }
        Message::AuthenticationSasl(body) => {
            prove(channel, &body, password()?, wanted, certificate).await?;
        }
        _ => return Err("unsupported authentication method".into()),
    }
    match asked_for(channel).await? {
        Message::AuthenticationOk => Ok(()),
        _ => Err(STRANGE.into()),
    }
}

/// Prove that this end knows the password, and let the server prove that it does.
async fn prove(
    channel: &mut Channel,
    asked: &AuthenticationSaslBody,
    password: &str,
    wanted: ChannelBinding,
    certificate: Option<Vec<u8>>,
) -> Result<(), Refused> {
    let (mut plain, mut bound) = (false, false);
    let mut mechanisms = asked.mechanisms();
    while let Some(name) = mechanisms.next().map_err(|why| why.to_string())? {
        plain |= name == SCRAM_SHA_256;
        bound |= name == SCRAM_SHA_256_PLUS;
    }
    let certificate = certificate.filter(|_| wanted != ChannelBinding::Disable);
    let (binding, mechanism) = match certificate {
        Some(hash) if bound => (Binding::tls_server_end_point(hash), SCRAM_SHA_256_PLUS),
        // The server could be told that this end would have bound: a man in the middle must not hide it.
        Some(_) if plain => (Binding::unrequested(), SCRAM_SHA_256),
        _ if plain || bound => (Binding::unsupported(), SCRAM_SHA_256),
        _ => return Err("unsupported authentication method".into()),
    };
    if mechanism != SCRAM_SHA_256_PLUS {
        unbound(wanted)?;
    }
    let mut scram = ScramSha256::new(password.as_bytes(), binding);
    let written = channel.continue_writing();
    frontend::sasl_initial_response(mechanism, scram.message(), written)
        .map_err(|why| why.to_string())?;
    channel.send(0).await?;
    let Message::AuthenticationSaslContinue(body) = asked_for(channel).await? else {
        return Err(STRANGE.into());
    };
    scram.update(body.data()).map_err(|why| why.to_string())?;
    frontend::sasl_response(scram.message(), channel.continue_writing())
        .map_err(|why| why.to_string())?;
    channel.send(0).await?;
    let Message::AuthenticationSaslFinal(body) = asked_for(channel).await? else {
        return Err(STRANGE.into());
    };
    scram.finish(body.data()).map_err(|why| why.to_string().into())
}

async fn answer(channel: &mut Channel, password: &[u8]) -> Result<(), Refused> {
    frontend::password_message(password, channel.continue_writing())
        .map_err(|why| why.to_string())?;
    channel.send(0).await
}

async fn asked_for(channel: &mut Channel) -> Result<Message, Refused> {
    match channel.receive().await? {
        tag::AUTHENTICATION => channel.message(),
        tag::ERROR => Err(channel.refused()),
        _ => Err(STRANGE.into()),
    }
}

/// Whether going on without channel binding is allowed.
fn unbound(wanted: ChannelBinding) -> Result<(), Refused> {
    if wanted == ChannelBinding::Require {
        return Err("the server did not use channel binding".into());
    }
    Ok(())
}
