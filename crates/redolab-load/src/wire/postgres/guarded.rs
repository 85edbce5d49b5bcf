//! Watches what a PostgreSQL server sends: allowed ways of authentication only, and no more at once than memory bears.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::wire::refusal::Refusal;

/// More than any answer to a load's statement is.
const MOST_AT_ONCE: u64 = 1 << 20;

const AUTHENTICATION: u8 = b'R';
const READY_FOR_QUERY: u8 = b'Z';
/// The protocol's client keeps each of these, by a name that the server chooses.
const PARAMETER_STATUS: u8 = b'S';
/// A message's tag and its length.
const HEAD: usize = 5;
/// An authentication message's head and its code.
const AUTHENTICATION_HEAD: usize = 9;

/// The ways of authentication that the client takes part in, as `require_auth` of libpq names them.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four")]
pub struct Methods {
    /// The server asks for nothing.
    pub none: bool,
    /// The password itself is sent.
    pub password: bool,
    /// A hash of the password is sent.
    pub md5: bool,
    /// The password is proved, and the server proves that it knows it too.
    pub scram: bool,
}

/// A connection that ends where the server sends what it must not.
pub(crate) struct Guarded<S> {
    pub(crate) stream: S,
    watch: Watch,
}

impl<S> Guarded<S> {
    pub(crate) fn new(stream: S, allowed: Methods) -> Self {
        Self { stream, watch: Watch::new(allowed) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let Guarded { stream, watch } = &mut *self;
        match Pin::new(stream).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                Poll::Ready(watch.see(&buffer.filled()[before..]).map_err(io::Error::other))
            }
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Reads along, message by message, wherever the network cuts them.
struct Watch {
    allowed: Methods,
    head: [u8; AUTHENTICATION_HEAD],
    /// Bytes of `head` that are there.
    known: usize,
    /// Bytes of the message that are still to come.
    rest: u64,
    /// Bytes since the server was last ready.
    at_once: u64,
    /// Bytes of parameters since the connection was made.
    kept: u64,
    asked: bool,
}

impl Watch {
    fn new(allowed: Methods) -> Self {
        let head = [0; AUTHENTICATION_HEAD];
        Self { allowed, head, known: 0, rest: 0, at_once: 0, kept: 0, asked: false }
    }

    fn see(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while !bytes.is_empty() {
            if self.rest > 0 {
                let skipped = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
                self.rest -= skipped as u64;
                bytes = &bytes[skipped..];
                continue;
            }
            self.head[self.known] = bytes[0];
            self.known += 1;
            bytes = &bytes[1..];
            if self.known == HEAD {
                self.begin()?;
            } else if self.known == AUTHENTICATION_HEAD {
                self.authentication()?;
            }
        }
        Ok(())
    }

    /// Judge a message by its head.
    fn begin(&mut self) -> Result<(), Refusal> {
        let tag = self.head[0];
        let length = u64::from(number(&self.head[1..HEAD]));
        let least = if tag == AUTHENTICATION { 8 } else { 4 };
        if length < least {
            return Err(Refusal("the server's answer is not PostgreSQL's protocol".to_owned()));
        }
        self.at_once += length;
        if tag == PARAMETER_STATUS {
            self.kept += length;
        }
        if self.at_once.max(self.kept) > MOST_AT_ONCE {
            return Err(Refusal(format!(
                "the server sent more than {MOST_AT_ONCE} bytes of an answer or of parameters, which no load makes it do"
            )));
        }
        if tag == READY_FOR_QUERY {
            self.at_once = 0;
        }
        if tag != AUTHENTICATION {
            self.known = 0;
            self.rest = length - least;
        }
        Ok(())
    }

    /// Judge what the server asks for.
    fn authentication(&mut self) -> Result<(), Refusal> {
        self.known = 0;
        self.rest = u64::from(number(&self.head[1..HEAD])) - 8;
        let (allowed, method) = match number(&self.head[HEAD..]) {
            0 => (self.allowed.none || self.asked, "nothing at all"),
            3 => (self.allowed.password, "the password itself (a cleartext password)"),
            5 => (self.allowed.md5, "an MD5 hash of the password"),
            10 => (self.allowed.scram, "a proof of the password by SCRAM"),
            _ => return Ok(()),
        };
        self.asked = true;
        if allowed {
            return Ok(());
        }
        Err(Refusal(format!(
            "the server asked for {method}, which is not allowed on this connection"
        )))
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::{MOST_AT_ONCE, Methods, Watch};

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    fn authentication(code: u32) -> Vec<u8> {
        message(b'R', &code.to_be_bytes())
    }

    fn scram() -> Methods {
        Methods { scram: true, ..Methods::default() }
    }

    /// The outcome must not depend on how the network cuts the bytes.
    fn seen(allowed: Methods, bytes: &[u8]) -> Result<(), String> {
        let outcomes: Vec<_> = [1, 2, 7, bytes.len()]
            .map(|size| {
                let mut watch = Watch::new(allowed);
                bytes.chunks(size).try_for_each(|part| watch.see(part)).map_err(|why| why.0)
            })
            .into();
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:?}");
        outcomes[0].clone()
    }

    #[test]
    fn only_allowed_ways_of_authentication_go_through() {
        let all = Methods { none: true, password: true, md5: true, scram: true };
        let none = Methods::default();
        for (code, one) in [
            (0, Methods { none: true, ..none }),
            (3, Methods { password: true, ..none }),
            (5, Methods { md5: true, ..none }),
            (10, scram()),
        ] {
            let bytes = [authentication(code), message(b'S', b"a\0b\0")].concat();
            assert_eq!(seen(all, &bytes), Ok(()));
            assert_eq!(seen(one, &bytes), Ok(()));
            assert!(seen(none, &bytes).unwrap_err().contains("not allowed"), "{code}");
        }
    }

    #[test]
    fn being_let_in_after_a_proof_is_not_being_let_in_without_one() {
        let asked = [authentication(10), authentication(11), authentication(12), authentication(0)];
        assert_eq!(seen(scram(), &asked.concat()), Ok(()));
        assert!(seen(scram(), &authentication(0)).is_err());
    }

    #[test]
    fn a_cleartext_password_is_found_behind_other_messages() {
        let bytes =
            [message(b'N', &[0; 300]), message(b'v', b"12345678"), authentication(3)].concat();
        assert!(seen(scram(), &bytes).unwrap_err().contains("cleartext"));
    }

    #[test]
    fn a_flood_is_refused_and_many_small_answers_are_not() {
        let huge = [&[b'D'][..], &u32::MAX.to_be_bytes()].concat();
        assert!(seen(scram(), &huge).unwrap_err().contains("of an answer"));
        let status = message(b'S', &[b'x'; 996]);
        let flood = status.repeat(usize::try_from(MOST_AT_ONCE).unwrap() / 1_000 + 2);
        assert!(seen(scram(), &flood).unwrap_err().contains("of parameters"));
        let ready = message(b'Z', b"I");
        let answer = [message(b'D', &b"x".repeat(99_996)), ready.clone()].concat();
        assert_eq!(seen(scram(), &answer.repeat(30)), Ok(()));
        let drip = [status, ready].concat();
        assert_eq!(seen(scram(), &drip.repeat(900)), Ok(()));
        assert!(seen(scram(), &drip.repeat(1_100)).is_err(), "parameters are kept");
        assert!(seen(scram(), &message(b'R', b"")).unwrap_err().contains("protocol"));
    }
}
