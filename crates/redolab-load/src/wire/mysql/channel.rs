//! Packets to and from a server.

use std::io;

use bytes::BytesMut;
use mysql_common::constants::{CapabilityFlags, Command};
use mysql_common::io::ParseBuf;
use mysql_common::packets::ErrPacket;
use mysql_common::proto::MySerialize;
use mysql_common::proto::codec::PacketCodec;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::wire::tls::{Tls, handshake_words};

/// What this end asks of every server; LOCAL INFILE is not among it.
pub(super) const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
pub(super) const STRANGE: &str = "the server's answer is not MySQL's protocol";

/// The longest packet of a server of which nothing is known yet.
const MOST_OF_A_STRANGER: usize = 1 << 16;
/// The longest packet afterwards.
const MOST_AT_ONCE: usize = 1 << 24;
const READ_AT_ONCE: usize = 1 << 13;
const ERROR: u8 = 0xFF;

/// What bytes go by.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// A connection as packets. What is read is what was asked for: nothing reads on its own.
pub(super) struct Channel {
    stream: Box<dyn Stream>,
    codec: PacketCodec,
    read: BytesMut,
    written: BytesMut,
    /// Whether an answer has not been read to its end, after which nothing can be asked.
    owed: bool,
}

impl Channel {
    pub(super) fn new(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Self {
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = MOST_OF_A_STRANGER;
        let (read, written) = (BytesMut::new(), BytesMut::new());
        Self { stream: Box::new(stream), codec, read, written, owed: false }
    }

    /// Encrypt all that follows.
    pub(super) async fn encrypt(self, tls: &Tls) -> Result<Self, String> {
        let Self { stream, codec, read, written, owed } = self;
        // It would be taken for what came encrypted.
        if !read.is_empty() {
            return Err("the server sent more than its greeting before TLS".to_owned());
        }
        let encrypted = tls.encrypt(stream).await.map_err(|error| {
            let failed = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            failed.map_or_else(|| format!("the TLS handshake failed ({error})"), handshake_words)
        })?;
        Ok(Self { stream: Box::new(encrypted), codec, read, written, owed })
    }

    /// The server knows who asks.
    pub(super) fn is_logged_in(&mut self) {
        self.codec.max_allowed_packet = MOST_AT_ONCE;
    }

    /// Ask for something new.
    pub(super) async fn command(&mut self, command: Command, rest: &[u8]) -> Result<(), String> {
        let packet = [&[command as u8][..], rest].concat();
        self.begin(&packet).await
    }

    /// Ask for something new, with the whole packet.
    pub(super) async fn begin(&mut self, packet: &[u8]) -> Result<(), String> {
        if self.owed {
            return Err("the connection was given up in the middle of an answer".to_owned());
        }
        self.owed = true;
        self.codec.reset_seq_id();
        self.send(packet).await
    }

    /// Say what is not answered.
    pub(super) async fn tell(&mut self, packet: &impl MySerialize) -> Result<(), String> {
        let mut bytes = Vec::new();
        packet.serialize(&mut bytes);
        self.begin(&bytes).await?;
        self.is_answered();
        Ok(())
    }

    /// The answer to what was asked for is complete.
    pub(super) fn is_answered(&mut self) {
        self.owed = false;
    }

    /// Send one packet.
    pub(super) async fn send(&mut self, packet: &[u8]) -> Result<(), String> {
        let mut packet = packet;
        self.codec.encode(&mut packet, &mut self.written).map_err(|why| why.to_string())?;
        let Err(why) = self.flush().await else { return Ok(()) };
        // Whoever closed it may have said why.
        Err(self.receive().await.err().unwrap_or_else(|| lost(&why)))
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all_buf(&mut self.written).await?;
        self.stream.flush().await
    }

    /// Send a structure of the protocol.
    pub(super) async fn send_struct(&mut self, packet: &impl MySerialize) -> Result<(), String> {
        let mut bytes = Vec::new();
        packet.serialize(&mut bytes);
        self.send(&bytes).await
    }

    /// Read one packet; the server's error is one of this.
    pub(super) async fn receive(&mut self) -> Result<Vec<u8>, String> {
        let mut packet = Vec::new();
        loop {
            match self.codec.decode(&mut self.read, &mut packet) {
                Ok(true) => break,
                Ok(false) => {}
                // A server that ends a connection by itself does not count its packets.
                Err(_) if packet.first() == Some(&ERROR) => break,
                Err(why) => return Err(format!("{STRANGE} ({why})")),
            }
            // Whole answers at once, so that a commit's is one read.
            self.read.reserve(READ_AT_ONCE);
            let count = self.stream.read_buf(&mut self.read).await;
            if count.map_err(|why| lost(&why))? == 0 {
                return Err("the server closed the connection".to_owned());
            }
        }
        if packet.first() == Some(&ERROR) {
            // It ends every answer.
            self.owed = false;
            return Err(words(&packet));
        }
        Ok(packet)
    }
}

fn lost(why: &io::Error) -> String {
    format!("error communicating with the server: {why}")
}

/// The server's own words, which never have a password in them, and the error's number.
fn words(packet: &[u8]) -> String {
    let has_state = packet.get(3) == Some(&b'#');
    let protocol =
        if has_state { CapabilityFlags::CLIENT_PROTOCOL_41 } else { CapabilityFlags::empty() };
    match ParseBuf(packet).parse::<ErrPacket<'_>>(protocol) {
        Ok(ErrPacket::Error(error)) => {
            format!("{} (error {})", error.message_str().trim_end(), error.error_code())
        }
        _ => "the server ended the connection with an error that cannot be read".to_owned(),
    }
}
