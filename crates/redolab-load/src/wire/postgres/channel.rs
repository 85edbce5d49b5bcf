//! Messages to and from a PostgreSQL server.
//!
//! What is read is what was asked for: nothing reads on its own, and an answer costs no more than to look at the head
//! of each of its messages.

use std::io;
use std::ops::Range;

use bytes::{Buf, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorFields, Message};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::words::{Refused, STRANGE, lost};

const HEAD: usize = 5;
const READ_AT_ONCE: usize = 1 << 13;

/// Kinds of a server's messages, by their first byte.
pub(super) mod tag {
    pub(crate) const AUTHENTICATION: u8 = b'R';
    pub(crate) const COMPLETE: u8 = b'C';
    pub(crate) const COPY_IN: u8 = b'G';
    pub(crate) const COPY_OUT: u8 = b'H';
    pub(crate) const COPY_BOTH: u8 = b'W';
    pub(crate) const DATA_ROW: u8 = b'D';
    pub(crate) const ERROR: u8 = b'E';
    pub(crate) const KEY: u8 = b'K';
    pub(crate) const NOTICE: u8 = b'N';
    pub(crate) const NOTIFICATION: u8 = b'A';
    pub(crate) const PARAMETERS: u8 = b't';
    pub(crate) const PARAMETER_STATUS: u8 = b'S';
    pub(crate) const READY: u8 = b'Z';
}

/// What bytes go by.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// A connection as messages.
pub(super) struct Channel {
    stream: Box<dyn Stream>,
    read: BytesMut,
    /// The message that was received last, in `read`.
    last: Range<usize>,
    /// What the next `send` sends.
    written: BytesMut,
    /// Times that the server has to be ready again before anything else can be asked.
    owed: usize,
}

impl Channel {
    pub(super) fn new(stream: impl AsyncRead + AsyncWrite + Unpin + 'static) -> Self {
        let (read, written) = (BytesMut::new(), BytesMut::new());
        Self { stream: Box::new(stream), read, last: 0..0, written, owed: 0 }
    }

    /// Begin to write what asks for something new.
    pub(super) fn begin(&mut self) -> Result<&mut BytesMut, Refused> {
        if self.owed > 0 {
            return Err("the connection was given up in the middle of an answer".into());
        }
        self.written.clear();
        Ok(&mut self.written)
    }

    /// Write what goes on with what was asked before.
    pub(super) fn continue_writing(&mut self) -> &mut BytesMut {
        self.written.clear();
        &mut self.written
    }

    /// Send what was written; the server is to be ready again so many times more.
    pub(super) async fn send(&mut self, owed: usize) -> Result<(), Refused> {
        self.owed += owed;
        let Err(why) = self.flush().await else { return Ok(()) };
        // Whoever closed the connection may have said why.
        while let Ok(kind) = self.receive().await {
            if kind == tag::ERROR {
                return Err(self.refused());
            }
        }
        Err(lost(&why).into())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all_buf(&mut self.written).await?;
        self.stream.flush().await
    }

    /// Receive the next message of an answer; tells of what kind it is. What a server says unasked is left out.
    pub(super) async fn receive(&mut self) -> Result<u8, Refused> {
        loop {
            let kind = self.next().await?;
            match kind {
                tag::NOTICE | tag::NOTIFICATION | tag::PARAMETER_STATUS => {}
                tag::READY => {
                    self.owed = self.owed.saturating_sub(1);
                    return Ok(kind);
                }
                _ => return Ok(kind),
            }
        }
    }

    async fn next(&mut self) -> Result<u8, Refused> {
        self.read.advance(self.last.end);
        self.last = 0..0;
        let length = loop {
            match self.read.get(1..HEAD) {
                None => self.more(HEAD).await?,
                Some(bytes) => {
                    let length =
                        bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
                    if length < HEAD - 1 {
                        return Err(STRANGE.into());
                    }
                    break length + 1;
                }
            }
        };
        while self.read.len() < length {
            self.more(length).await?;
        }
        self.last = 0..length;
        Ok(self.read[0])
    }

    async fn more(&mut self, wanted: usize) -> Result<(), Refused> {
        // Whole answers at once, so that a commit's is one read.
        self.read.reserve(wanted.saturating_sub(self.read.len()).max(READ_AT_ONCE));
        match self.stream.read_buf(&mut self.read).await {
            Ok(0) => Err("the server closed the connection".into()),
            Ok(_) => Ok(()),
            Err(why) => Err(lost(&why).into()),
        }
    }

    /// The message that was received last, without its head.
    pub(super) fn body(&self) -> &[u8] {
        &self.read[HEAD.min(self.last.end)..self.last.end]
    }

    /// The message that was received last.
    pub(super) fn message(&self) -> Result<Message, Refused> {
        let mut bytes = BytesMut::from(&self.read[self.last.clone()]);
        Message::parse(&mut bytes).ok().flatten().ok_or_else(|| STRANGE.into())
    }

    /// The error that was received last.
    pub(super) fn refused(&self) -> Refused {
        match self.message() {
            Ok(Message::ErrorResponse(body)) => Refused::told(body.fields()),
            _ => STRANGE.into(),
        }
    }

    /// Read to where the server is ready again; the first error on the way is one of this.
    pub(super) async fn settle(&mut self) -> Result<(), Refused> {
        let mut refused = None;
        while self.owed > 0 {
            if self.receive().await? == tag::ERROR {
                let told = self.refused();
                // It ends the connection, and the server will not be ready any more.
                if told.is_fatal {
                    return Err(told);
                }
                refused.get_or_insert(told);
            }
        }
        refused.map_or(Ok(()), Err)
    }
}

impl Refused {
    fn told(mut fields: ErrorFields<'_>) -> Self {
        let mut told = Self::from("");
        while let Ok(Some(field)) = fields.next() {
            let text = || String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'M' => told.text = text(),
                b'C' => told.state = Some(text()),
                b'V' => told.is_fatal = field.value_bytes() != b"ERROR",
                _ => {}
            }
        }
        told
    }
}
