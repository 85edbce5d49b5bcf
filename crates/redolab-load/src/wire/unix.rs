//! Connections over sockets of this machine.

use std::io;
use std::path::Path;

use tokio::net::UnixStream;

use crate::wire::refusal::Refusal;

/// Connect to the socket at `path`; `peer_uid` is the user as whom whoever listens there must run, and `otherwise`
/// says what it means that another one does.
pub(crate) async fn connect(
    path: &Path,
    peer_uid: Option<u32>,
    otherwise: &str,
) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    match peer_uid {
        Some(wanted) if wanted != stream.peer_cred()?.uid() => {
            Err(io::Error::other(Refusal(otherwise.to_owned())))
        }
        _ => Ok(stream),
    }
}
